import type { Permissions } from '../accounts/index.ts'
import type { ModelAbilities } from '../canonical/model-card.ts'
import type { Format } from '../canonical/node.ts'
import type { Work } from '../canonical/work.ts'
import type { Config, ModelFacts } from '../config/index.ts'
import { CALLER_FORMATS, fitnessOf } from '../formats/index.ts'
import type { Catalogue, KnownModel } from '../upstreams/catalogue/index.ts'
import { deploymentsOf, type RoutedChannel, usableModels } from '../upstreams/router.ts'
import { abilitiesOf } from './models.ts'

/** A model as the admin API shows it. */
export interface ModelOverview {
  readonly id: string
  /** The operator's settings for the model. */
  readonly facts: ModelFacts | undefined
  /** The catalogue's facts about the model, with the prices of the first of its channels that has any. */
  readonly known: KnownModel
  readonly abilities: ModelAbilities
  /** Format that clients should use: the operator's choice, or the one that the channels support best. */
  readonly interface: Format | undefined
  /** Formats of the model's channels that a caller can use. */
  readonly native: readonly Format[]
  /** Further formats that a caller can use by translation. */
  readonly translated: readonly Format[]
  readonly channels: readonly { readonly name: string; readonly upstreamModel: string }[]
}

/** Returns the models that a key with these permissions can call, sorted by id. */
export function modelOverviews(
  permissions: Permissions,
  all: readonly RoutedChannel[],
  { models, realtime }: Pick<Config, 'models' | 'realtime'>,
  catalogue: Catalogue,
): readonly ModelOverview[] {
  const channels = all.filter(({ config }) => permissions.allowsChannel(config.name))
  const cascades = realtime.cascade !== undefined
  const callerFormats = [...CALLER_FORMATS.keys()].filter(callerFormat => permissions.allowsFormat(callerFormat))
  return usableModels(permissions, all, cascades).map(model => {
    const deployments = deploymentsOf(model.id, channels)
    const channelFormats = new Set(deployments.flatMap(({ channel }) => channel.formats.map(({ format }) => format)))
    const canUse = (callerFormat: Format): boolean =>
      deployments.some(({ channel }) =>
        channel.formats.some(format => canDo(CALLER_FORMATS.get(callerFormat)!, format, cascades)),
      )
    const facts = models.get(model.id)
    const known = deployments.map(({ channel, upstreamModel }) =>
      catalogue.about(model.id, { provider: channel.provider, upstreamModel }),
    )
    const abilities = abilitiesOf(model, facts)
    // Sorted by the channels' preference.
    const native = [...channelFormats].filter(format => callerFormats.includes(format))
    const translated = callerFormats.filter(callerFormat => !channelFormats.has(callerFormat) && canUse(callerFormat))
    return {
      id: model.id,
      facts,
      known: known.find(({ rates }) => rates.input !== undefined) ?? known[0] ?? catalogue.about(model.id),
      abilities,
      interface: facts?.interface ?? interfaceOf(abilities, native) ?? translated[0],
      native: callerFormats.filter(callerFormat => channelFormats.has(callerFormat)),
      translated,
      channels: deployments.map(({ channel, upstreamModel }) => ({ name: channel.name, upstreamModel })),
    }
  })
}

/**
 * Returns the first format of the channels that is made for the model's main kind of work, or else the first that can
 * do it.
 */
function interfaceOf(
  { converses, draws, speaks, embeds }: ModelAbilities,
  native: readonly Format[],
): Format | undefined {
  const works: readonly (readonly [boolean, Work])[] = [
    [embeds, 'embedding'],
    [converses, 'conversation'],
    [draws, 'image'],
    [speaks, 'speech'],
  ]
  const work = works.find(([can]) => can)?.[1]
  if (work === undefined) return native[0]
  const primary = native.find(format => CALLER_FORMATS.get(format)?.[0] === work)
  return primary ?? native.find(format => CALLER_FORMATS.get(format)?.includes(work)) ?? native[0]
}

/** Returns true if an upstream of the format can do any of these kinds of work, by the router's rules. */
const canDo = (
  works: readonly Work[],
  { format, dialect }: RoutedChannel['config']['formats'][number],
  cascades: boolean,
): boolean =>
  works.some(work => {
    const fitness = fitnessOf(format, work, dialect)
    return fitness !== undefined && (fitness !== 'emulated' || work !== 'realtime' || cascades)
  })
