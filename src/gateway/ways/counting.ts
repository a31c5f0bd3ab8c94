import { GatewayError } from '../../canonical/error.ts'
import type { Channel } from '../../channel.ts'
import { type Candidate, type RoutedChannel, type RouteRequest, route } from '../../router.ts'
import type { Attempt } from '../attempt.ts'
import { estimate } from '../counting/estimate.ts'
import type { Answered } from '../told.ts'
import type { Way } from '../ways.ts'

/** Milliseconds after which nobody waits for a count any more: an estimate takes none. */
const PATIENCE = 10_000

/**
 * A count by the upstream where it has a call for that, else by estimate (trap 80): also where the call fails in
 * whatever way, for callers cannot do without, and a count that fails says nothing of how well the channel is.
 */
export const counting: Way = {
  losses: () => [],
  answer: async (attempt, ask) => {
    const { candidate, channel, request } = attempt
    if (!candidate.detour && isWell(channel)) {
      const asked = await counted(attempt, ask)
      if (asked !== undefined) return asked
    }
    return {
      result: { candidates: [], usage: { input: await estimate(request, candidate.format.format) } },
      losses: [],
      headers: { 'interlingua-estimate': 'true' },
    }
  },
}

/** What the upstream says, unless it fails or takes too long. */
async function counted({ call, request }: Attempt, ask: Parameters<Way['answer']>[1]): Promise<Answered | undefined> {
  const timer = setTimeout(() => call.reply.worker?.abort(), PATIENCE)
  try {
    return await ask(request)
  } catch (thrown) {
    if (call.reply.gone) throw thrown
    return undefined
  } finally {
    clearTimeout(timer)
  }
}

/** A channel that rests or is full is not asked for so little. */
function isWell({ health, config }: Channel): boolean {
  const rests = (health.coolingUntil ?? 0) > Date.now()
  return !rests && (config.maxConcurrent === undefined || health.open < config.maxConcurrent)
}

/**
 * The channels to have a request's tokens counted by: as `route` says, and where every channel rests or is full, as it
 * would if none were, since the gateway can estimate.
 *
 * @throws GatewayError for a model there is none of here, or that the key may not use.
 */
export function routeCount(request: RouteRequest, channels: readonly RoutedChannel[]): readonly Candidate[] {
  try {
    return route(request, channels)
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || thrown.error.retryAfterSeconds === undefined) throw thrown
    const rested = channels.map(({ config, health: { listed } }) => ({
      config,
      health: { open: 0, ...(listed === undefined ? {} : { listed }) },
    }))
    return route(request, rested)
  }
}
