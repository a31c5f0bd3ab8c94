import { GatewayError } from '../../canonical/error.ts'
import type { Channel } from '../../upstreams/channel/index.ts'
import {
  type ChannelHealth,
  isFull,
  type RoutedChannel,
  type RouteRequest,
  rests,
  route,
  type Target,
} from '../../upstreams/router.ts'
import { estimate } from '../counting/estimate.ts'
import type { Attempt, Emulation, RoundTrip, WholeAnswer } from '../types.ts'

/** Timeout of an upstream's count, in milliseconds. After it, the estimate is used. */
const COUNT_TIMEOUT = 10_000

/**
 * Counts tokens at the upstream if it has an endpoint for counts, or else estimates them (trap 80). An estimate also
 * replaces a failed count, because clients depend on counts. Failed counts do not rest the channel.
 */
export const counting: Emulation = {
  losses: () => [],
  answer: async (attempt, roundTrip) => {
    const { target, channel, request } = attempt
    if (!target.emulated && isAvailable(channel, target)) {
      const upstreamAnswer = await upstreamCount(attempt, roundTrip)
      if (upstreamAnswer !== undefined) return upstreamAnswer
    }
    return {
      result: { candidates: [], usage: { input: await estimate(request, target.format.format) } },
      losses: [],
      headers: { 'interlingua-estimate': 'true' },
    }
  },
}

/** Returns the upstream's count, or undefined if the request fails or takes too long. */
async function upstreamCount(attempt: Attempt, roundTrip: RoundTrip): Promise<WholeAnswer | undefined> {
  const { request } = attempt
  const { call } = attempt.incoming
  const timer = setTimeout(() => call.reply.abortable?.abort(), COUNT_TIMEOUT)
  try {
    return await roundTrip(attempt, request)
  } catch (thrown) {
    if (call.reply.gone) throw thrown
    return undefined
  } finally {
    clearTimeout(timer)
  }
}

/** Returns true if the channel is neither resting nor full. */
const isAvailable = ({ health, config }: Channel, { upstreamModel }: Target): boolean =>
  !rests(health, upstreamModel, Date.now()) && !isFull(health, config)

/**
 * Health fields of a channel that is not full. With this explicit type, the compiler finds renamed fields, which it
 * would miss in a spread.
 */
const NOT_FULL: Required<Pick<ChannelHealth, 'inFlight' | 'isSpent'>> = { inFlight: 0, isSpent: false }

const asNotFull = ({ config, health, keys }: RoutedChannel): RoutedChannel => ({
  ...{ config, health: { ...health, ...NOT_FULL } },
  ...(keys === undefined ? {} : { keys: keys.map(asNotFull) }),
})

/**
 * Routes a count like `route`, but also to full channels, because the gateway itself can estimate the count.
 *
 * @throws GatewayError for an unknown model, or a model that the key may not use.
 */
export function routeCount(request: RouteRequest, channels: readonly RoutedChannel[]): readonly Target[] {
  try {
    return route(request, channels)
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || thrown.error.retryAfterSeconds === undefined) throw thrown
    return route(request, channels.map(asNotFull))
  }
}
