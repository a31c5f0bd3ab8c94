import type { Format, JsonObject } from '../canonical/node.ts'

/** The operator's facts about a model; the model lists show its name, description and limits. */
export interface ModelFacts {
  readonly id: string
  readonly name?: string
  readonly description?: string
  /** The format that clients should use for it. */
  readonly interface?: Format
  /** Tokens of context. */
  readonly context?: number
  readonly maxOutput?: number
  /** Dialect flags for this model at any channel; a channel's own take precedence. */
  readonly dialect?: JsonObject
  /** Whether conversations with it may be compacted. */
  readonly compaction?: 'enabled' | 'disabled'
  readonly input: readonly string[]
  readonly output: readonly string[]
  /** Whether it reasons, and whether it calls tools; the catalogue's word where absent. */
  readonly reasoning?: boolean
  readonly tools?: boolean
  /** US dollars for a million tokens. */
  readonly price?: {
    readonly input?: number
    readonly output?: number
    readonly cacheRead?: number
    readonly cacheWrite?: number
  }
}
