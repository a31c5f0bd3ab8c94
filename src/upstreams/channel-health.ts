import type { ChannelConfig } from '../config/types.ts'

/** A channel's current state, as the router needs it. */
export interface ChannelHealth {
  /** Number of requests in flight. */
  readonly inFlight: number
  /**
   * Time until which the channel is tried after all others, in Unix milliseconds. Undefined or past if the channel is
   * well.
   */
  readonly restingUntil?: number | undefined
  /** End of the rest of single models in Unix milliseconds, by the upstream's names. */
  readonly resting?: ReadonlyMap<string, number>
  /** Whether an administrator has stopped new requests to the channel. */
  readonly drained?: boolean | undefined
  /** Whether a key of a pool has used up its own requests or tokens per minute. */
  readonly isSpent?: boolean | undefined
  /**
   * Model ids that the upstream lists. Undefined until they are fetched. Only channels with model patterns need them.
   */
  readonly listed?: ReadonlySet<string> | undefined
}

/** A channel's config with its current state. */
export interface RoutedChannel {
  readonly config: ChannelConfig
  readonly health: ChannelHealth
  /** The channel once per key of its pool. Absent if it has no pool. */
  readonly keys?: readonly RoutedChannel[] | undefined
}

/** Maximum rest, in milliseconds. */
export const LONGEST_REST = 3_600_000
/** Rest that is impossible, in milliseconds: it was set before the machine's clock was set back. */
const IMPOSSIBLE = LONGEST_REST + 60_000

/** Whether a rest that ends at `until` has not ended at `now`, both in Unix milliseconds. */
export const isOngoing = (until: number, now: number): boolean => until > now && until - now < IMPOSSIBLE

/** Whether the channel, or only this model, rests at time `now` (Unix milliseconds). */
export const rests = ({ restingUntil = 0, resting }: ChannelHealth, upstreamModel: string, now: number): boolean =>
  isOngoing(restingUntil, now) || isOngoing(resting?.get(upstreamModel) ?? 0, now)

/** Returns the end of an earlier rest, or 0 if it is impossible beside a rest that ends at `until`. */
export const possibleEnd = (previous: number, until: number): number => (previous - until < IMPOSSIBLE ? previous : 0)

/** Whether the channel has as many requests in flight as the operator allows, or its key is spent. */
export const isFull = (
  { inFlight, isSpent }: ChannelHealth,
  { maxConcurrent = Number.POSITIVE_INFINITY }: ChannelConfig,
): boolean => inFlight >= maxConcurrent || isSpent === true
