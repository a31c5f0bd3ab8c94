import type { ChannelConfig } from '../config/types.ts'

/** A channel's current state, as the router needs it. */
export interface ChannelHealth {
  /** Number of requests in flight. */
  readonly inFlight: number
  /**
   * Time until which the channel is tried only after all others, in Unix milliseconds. Undefined or in the past if the
   * channel does not rest.
   */
  readonly restingUntil?: number | undefined
  /** Time until which single models rest, in Unix milliseconds, by the upstream's names. */
  readonly resting?: ReadonlyMap<string, number>
  /** True if an administrator has stopped new requests to the channel. */
  readonly drained?: boolean | undefined
  /** True if a pool's key has used up its own requests or tokens per minute. */
  readonly isSpent?: boolean | undefined
  /**
   * Model ids in the upstream's list, or undefined until the list is fetched. Needed only for channels with model
   * patterns.
   */
  readonly listed?: ReadonlySet<string> | undefined
}

/** A channel's config with its current state. */
export interface RoutedChannel {
  readonly config: ChannelConfig
  readonly health: ChannelHealth
  /** One copy of the channel per key of its pool. Absent if it has no pool. */
  readonly keys?: readonly RoutedChannel[] | undefined
}

/** Maximum rest, in milliseconds. */
export const MAX_REST = 3_600_000
/**
 * Minimum length of an impossible rest, in milliseconds. Such a rest was started before the machine's clock was set
 * back.
 */
const MIN_IMPOSSIBLE_REST = MAX_REST + 60_000

/** Returns true if a rest until `until` is still ongoing at `now`, both in Unix milliseconds. */
export const isOngoing = (until: number, now: number): boolean => until > now && until - now < MIN_IMPOSSIBLE_REST

/** Returns true if the channel, or only this model, rests at time `now` (Unix milliseconds). */
export const rests = ({ restingUntil = 0, resting }: ChannelHealth, upstreamModel: string, now: number): boolean =>
  isOngoing(restingUntil, now) || isOngoing(resting?.get(upstreamModel) ?? 0, now)

/** Returns the end of an earlier rest, or 0 if it is impossible given a rest that ends at `until`. */
export const possibleEnd = (previous: number, until: number): number =>
  previous - until < MIN_IMPOSSIBLE_REST ? previous : 0

/** Returns true if the channel has as many requests in flight as the operator allows, or if its key is spent. */
export const isFull = (
  { inFlight, isSpent }: ChannelHealth,
  { maxConcurrent = Number.POSITIVE_INFINITY }: ChannelConfig,
): boolean => inFlight >= maxConcurrent || isSpent === true
