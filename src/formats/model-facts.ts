import type { Format, JsonObject } from '../canonical/node.ts'

/** Reasons for using a fallback model. */
export const FALLBACK_REASONS = ['failure', 'rate-limit', 'context', 'refusal', 'budget'] as const
export type FallbackReason = (typeof FALLBACK_REASONS)[number]

/** Orders of a model's channels that are equal in every other respect. */
export const MODEL_ORDERS = ['weight', 'latency', 'cost'] as const
export type ModelOrder = (typeof MODEL_ORDERS)[number]

/** A model that is used if another cannot answer. */
export interface FallbackModel {
  /** Public id of the model. */
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
  /** State of compaction for conversations with this model. */
  readonly compaction?: 'enabled' | 'disabled'
  readonly input: readonly string[]
  readonly output: readonly string[]
  /** Whether the model reasons and calls tools. If absent, the catalogue decides. */
  readonly reasoning?: boolean
  readonly tools?: boolean
  /** Order of channels with equal rank. Defaults to `weight`. */
  readonly order?: ModelOrder
  /** Models to try, in this order, if no channel of this model answers. */
  readonly fallbacks?: readonly FallbackModel[]
  /**
   * Prices in US dollars: per million tokens, thousand searches, minute of a recording, image, million characters to
   * speak, second of a video, and minute of a voice session.
   */
  readonly price?: {
    readonly input?: number
    readonly output?: number
    readonly cacheRead?: number
    readonly cacheWrite?: number
    readonly search?: number
    readonly minute?: number
    readonly image?: number
    readonly characters?: number
    readonly videoSecond?: number
    readonly sessionMinute?: number
    /** Factors on the prices of tokens, by service tier. */
    readonly tiers?: { readonly [tier: string]: number }
  }
}
