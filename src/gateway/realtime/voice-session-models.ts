import type { Permissions } from '../../accounts/permissions.ts'
import { putNewest } from '../../canonical/bounded-map.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { ChannelConfig } from '../../config/index.ts'
import { REALTIME } from '../../voice/formats/realtime/wire.ts'
import type { SessionModels } from '../../voice/voice-session.ts'
import { pathsOf } from '../model-paths.ts'
import { checkPermitted, type ModelField, renameInBody, upstreamName } from '../named-models.ts'

/** Names and permissions that apply to the models of a session. */
export interface VoiceSessionModelsOptions {
  readonly permissions: Permissions
  /** The caller's name for the session's model. */
  readonly model: string
  /** The upstream's name for the session's model. */
  readonly upstreamModel: string
  /** Models of the channel, if it uses the caller's format. */
  readonly models: ChannelConfig['models'] | undefined
}

/** Maximum number of renamed models that a session remembers. A pattern of a channel may rename any number of them. */
const MAX_NAMES = 100
/** Maximum length of a name that is remembered, in characters. Longer names are no models. */
const MAX_NAME_LENGTH = 500

/**
 * Renames the models in a session's events. Incoming events get the upstream's names, outgoing events get the caller's.
 * `formats/model-fields.ts` lists the paths.
 */
export function voiceSessionModels(options: VoiceSessionModelsOptions): SessionModels {
  const { permissions, model, upstreamModel, models } = options
  const publicNames = new Map<string, string>()
  const paths = pathsOf(REALTIME)
  const toUpstreamName = (name: string, modelField: ModelField): string => {
    // The model of a session never changes. Vendors ignore the field, in which clients of Azure name no deployment.
    if (modelField.kind === 'requested') return upstreamModel
    // Other formats and cascades transcribe with models of their own, whatever clients name.
    if (models === undefined && modelField.kind === 'helper') return name
    checkPermitted(name, permissions, modelField.field)
    if (models === undefined) return name
    const upstream = upstreamName(name, models, modelField)
    if (upstream !== name && name.length <= MAX_NAME_LENGTH) putNewest(publicNames, upstream, name, MAX_NAMES)
    return upstream
  }
  const toPublicName = (name: string): string => publicNames.get(name) ?? (name === upstreamModel ? model : name)
  return {
    incoming: (event: JsonObject) => renameInBody(event, { paths, rename: toUpstreamName, isExact: true }),
    outgoing: (event: JsonObject) =>
      renameInBody(event, {
        paths,
        // Some upstreams report a version or a deployment instead of the requested model.
        rename: (name, { kind }) => (kind === 'requested' ? model : toPublicName(name)),
        isExact: false,
      }),
    publicName: toPublicName,
  }
}

/**
 * Checks the models in the settings of a client secret against the key's permissions.
 *
 * @param isNative true if a channel of the caller's format may get the settings. Others transcribe with models of their
 * own, whatever clients name.
 * @throws GatewayError `forbidden`, `invalid-request`.
 */
export function checkVoiceSession(session: JsonObject, permissions: Permissions, isNative: boolean): void {
  const rename = (name: string, { field, kind }: ModelField): string => {
    if (kind !== 'requested' && (isNative || kind !== 'helper')) checkPermitted(name, permissions, field)
    return name
  }
  renameInBody({ session }, { paths: pathsOf(REALTIME), rename, isExact: true })
}
