import type { JsonObject } from '../canonical/node.ts'
import type { ChannelFormat } from './channel-format.ts'
import { familyDialect, hasFamilies } from './families.ts'
import type { ModelFacts } from './model-facts.ts'

/** A format of a channel for one model, and the operator's facts it was made with. */
interface Cached {
  readonly facts: ModelFacts | undefined
  readonly format: ChannelFormat
}

const cache = new WeakMap<ChannelFormat, Map<string, Cached>>()

/** How many models of one channel are cached: names may come from callers. */
const MOST_MODELS = 1000

/** The model a format is used for. */
export interface Wanted {
  readonly model: string
  /** The operator's facts about it. */
  readonly facts?: ModelFacts | undefined
  /** The caller uses the upstream's format and is expected to name a valid model: family facts are not applied. */
  readonly native: boolean
  /** Of the channel, and what is known of models there. */
  readonly provider?: string
  readonly catalogue?: ModelLimits | undefined
}

/** What is known of the answers of models. */
export interface ModelLimits {
  /** Tokens of an answer at most; undefined where unknown. */
  maxOutput(provider: string, upstreamModel: string): number | undefined
}

/**
 * The format of a channel with the dialect of one model: the flags of its family, then the operator's for the model,
 * then those declared for the channel. The same object where there are none, and for the same model again.
 */
export function formatFor(format: ChannelFormat, wanted: Wanted): ChannelFormat {
  const { model, facts, native } = wanted
  if ((native || !hasFamilies(format.format)) && facts?.dialect === undefined) return format
  const models = cache.get(format) ?? new Map<string, Cached>()
  const key = native ? `native ${model}` : model
  const cached = models.get(key)
  if (cached !== undefined && cached.facts === facts) return cached.format
  const family = native ? undefined : familyDialect(format.format, model)
  const known = withLimit({ ...family, ...factsDialect(format, facts) }, format, wanted)
  const own = Object.keys(known).length === 0 ? format : { ...format, dialect: { ...known, ...format.dialect } }
  if (models.size >= MOST_MODELS) models.clear()
  models.set(key, { facts, format: own })
  cache.set(format, models)
  return own
}

function factsDialect({ format }: ChannelFormat, facts: ModelFacts | undefined): JsonObject {
  const limit = facts?.maxOutput
  return { ...(format === 'messages' && limit !== undefined ? { max_output: limit } : {}), ...facts?.dialect }
}

/**
 * With the catalogue's limit of an answer where none is declared. Callers' own limits are not held to it: what the model
 * takes meanwhile may be more.
 */
function withLimit(
  known: JsonObject,
  { format, dialect }: ChannelFormat,
  { model, native, provider, catalogue }: Wanted,
): JsonObject {
  const declared = { ...known, ...dialect }
  if (native || format !== 'messages' || catalogue === undefined || provider === undefined) return known
  if (declared['max_output'] !== undefined) return known
  const limit = catalogue.maxOutput(provider, model)
  return limit === undefined ? known : { ...known, listed_output: limit }
}
