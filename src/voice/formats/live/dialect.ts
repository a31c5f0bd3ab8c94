import type { JsonObject } from '../../../canonical/node.ts'
import type { LiveFlags } from '../../../formats/dialects/live.ts'
import { type LiveModel, liveModel } from './models.ts'

/**
 * Deviations of an upstream from the format, according to the flags in the channel's `dialect` or to known model names.
 */
export interface LiveDialect extends LiveModel {
  /**
   * Flag `vertex`: true if the upstream is Google Cloud's API, which has a different path and different model names.
   */
  readonly vertex: boolean
  /** `version`: API version in the path. */
  readonly version: string
  /** `voices`: the upstream's voices by the callers' voice names. If set, the upstream has no other voices. */
  readonly voices: { readonly [name: string]: string } | undefined
  /** `default_voice`: the upstream's voice if the caller requests none. */
  readonly defaultVoice: string | undefined
  /** Flag `resumption`: true if a session can continue on a new connection. Otherwise, it ends with its connection. */
  readonly resumption: boolean
}

export function readDialect(dialect: JsonObject, model: string): LiveDialect {
  const { vertex, version, voices, default_voice, resumption, audio_only, late_text } = dialect as LiveFlags
  const known = liveModel(model)
  return {
    ...known,
    vertex: vertex === true,
    version: typeof version === 'string' ? version : vertex === true ? 'v1beta1' : 'v1beta',
    voices,
    defaultVoice: typeof default_voice === 'string' ? default_voice : undefined,
    resumption: resumption !== false,
    // Flag `audio_only`: if text is requested, the transcript of the speech is used.
    audioOnly: typeof audio_only === 'boolean' ? audio_only : known.audioOnly,
    lateText: late_text ?? known.lateText,
  }
}

/** Returns the path of a session, relative to the channel's base URL. */
export const pathOf = ({ vertex, version }: LiveDialect): string =>
  vertex
    ? `/ws/google.cloud.aiplatform.${version}.LlmBidiService/BidiGenerateContent`
    : `/ws/google.ai.generativelanguage.${version}.GenerativeService.BidiGenerateContent`

/** Returns the resource name of a model. */
export const modelName = (model: string, { vertex }: LiveDialect): string =>
  model.includes('/') ? model : vertex ? `publishers/google/models/${model}` : `models/${model}`
