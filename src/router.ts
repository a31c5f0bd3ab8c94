import type { ErrorKind } from './canonical/error.ts'
import type { Format } from './canonical/node.ts'
import type { ChannelConfig, ChannelFormat } from './config.ts'

/** What a channel is like just now. */
export interface ChannelHealth {
  /** Requests open at it. */
  readonly open: number
  /** Unix time in milliseconds until which nothing is sent to it; absent or past when it is well. */
  readonly coolingUntil?: number
  /** Why it cools down. */
  readonly coolingFor?: ErrorKind
  /** The ids the upstream lists, once they are known; only channels with model patterns need them. */
  readonly listed?: ReadonlySet<string>
}

export interface RoutedChannel {
  readonly config: ChannelConfig
  readonly health: ChannelHealth
}

/** What is to be routed. */
export interface RouteRequest {
  /** The public model id, as the caller wrote it. */
  readonly model: string
  /** The caller's format. */
  readonly format: Format
  /** The model patterns of the key's group. */
  readonly allowed: readonly string[]
  /** Unix time in milliseconds. */
  readonly now: number
  /**
   * Draws among equal channels: equal texts draw equally. A request id shares requests by weight; a cache key or a
   * conversation id keeps what belongs together on one channel.
   */
  readonly draw: string
  /** How much would be lost in writing the request for that format of that channel; asked only where it decides. */
  readonly losses?: (format: ChannelFormat, channel: ChannelConfig) => number
}

/** One way to answer. */
export interface Candidate {
  readonly channel: ChannelConfig
  readonly format: ChannelFormat
  /** The caller speaks this very format. */
  readonly native: boolean
  /** What the upstream calls the model. */
  readonly upstreamModel: string
}

/**
 * The channels to try, best first, never none.
 *
 * @throws GatewayError `not-found` for a model no channel has, `forbidden` for one the key may not use,
 * `rate-limited` or `overloaded` with `retryAfterSeconds` where every channel is cooling down or full.
 */
export function route(_request: RouteRequest, _channels: readonly RoutedChannel[]): readonly Candidate[] {
  throw new Error('not written yet')
}

/** A model a key can call. */
export interface UsableModel {
  readonly id: string
  /** The formats its channels speak, without repetition. */
  readonly formats: readonly Format[]
}

/** The models a key can call, by the same rules as `route`, sorted by id; a channel's health does not matter. */
export function usableModels(_allowed: readonly string[], _channels: readonly RoutedChannel[]): readonly UsableModel[] {
  throw new Error('not written yet')
}
