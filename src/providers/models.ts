import type { JsonObject } from '../canonical/node.ts'
import type { ChannelFormat, ModelFacts } from '../config/types.ts'
import { familyDialect } from './families.ts'

/** A format of a channel as it is for one model, and the operator's facts that went into it. */
interface Made {
  readonly facts: ModelFacts | undefined
  readonly format: ChannelFormat
}

const made = new WeakMap<ChannelFormat, Map<string, Made>>()

/** Models of one channel whose dialects are remembered: names may come from callers. */
const MOST = 1000

/** The model a format is asked for. */
export interface Wanted {
  readonly model: string
  /** What the operator says of it. */
  readonly facts?: ModelFacts | undefined
  /** The caller speaks the format, and knows the model it asks for: what is known of its family is not its business. */
  readonly native: boolean
}

/**
 * The format of a channel with the dialect of one model: what is known of its family, then what the operator says of the
 * model, then what is declared for the channel. The same object where nothing is known, and for the same model again.
 */
export function formatFor(format: ChannelFormat, { model, facts, native }: Wanted): ChannelFormat {
  if ((native || format.format !== 'messages') && facts?.dialect === undefined) return format
  const models = made.get(format) ?? new Map<string, Made>()
  const key = native ? `native ${model}` : model
  const before = models.get(key)
  if (before !== undefined && before.facts === facts) return before.format
  const family = native ? undefined : familyDialect(format.format, model)
  const known = { ...family, ...factsDialect(format, facts) }
  const own = Object.keys(known).length === 0 ? format : { ...format, dialect: { ...known, ...format.dialect } }
  if (models.size >= MOST) models.clear()
  models.set(key, { facts, format: own })
  made.set(format, models)
  return own
}

function factsDialect({ format }: ChannelFormat, facts: ModelFacts | undefined): JsonObject {
  const limit = facts?.maxOutput
  return { ...(format === 'messages' && limit !== undefined ? { max_output: limit } : {}), ...facts?.dialect }
}
