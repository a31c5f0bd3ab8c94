import type { Format, JsonObject } from '../canonical/node.ts'

/** Why a fallback model is taken. */
export const FALLBACK_REASONS = ['failure', 'rate-limit', 'context', 'refusal', 'budget'] as const
export type FallbackReason = (typeof FALLBACK_REASONS)[number]

/** How channels of a model that are equal in all else are ordered. */
export const MODEL_ORDERS = ['weight', 'latency', 'cost'] as const
export type ModelOrder = (typeof MODEL_ORDERS)[number]

/** A model that answers if another cannot. */
export interface FallbackModel {
  /** Public id. */
  readonly model: string
  readonly on: ReadonlySet<FallbackReason>
}

/** Facts about a model from the config. Model lists show its name, description and limits. */
export interface ModelFacts {
  readonly id: string
  readonly name?: string
  readonly description?: string
  /** The format that clients should use for this model. */
  readonly interface?: Format
  /** Size of the context window, in tokens. */
  readonly context?: number
  readonly maxOutput?: number
  /** Dialect flags for this model at any channel. The channel's flags take precedence. */
  readonly dialect?: JsonObject
  /** Whether conversations with this model may be compacted. */
  readonly compaction?: 'enabled' | 'disabled'
  readonly input: readonly string[]
  readonly output: readonly string[]
  /** Whether the model reasons and calls tools. If absent, the catalogue decides. */
  readonly reasoning?: boolean
  readonly tools?: boolean
  /** How channels of equal rank are ordered; by weight if absent. */
  readonly order?: ModelOrder
  /** Models that answer if no channel of this one does, the first first. */
  readonly fallbacks?: readonly FallbackModel[]
  /** US dollars per million tokens. */
  readonly price?: {
    readonly input?: number
    readonly output?: number
    readonly cacheRead?: number
    readonly cacheWrite?: number
  }
}
