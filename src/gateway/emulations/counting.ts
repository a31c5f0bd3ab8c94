import { GatewayError } from '../../canonical/error.ts'
import type { Channel } from '../../channel/index.ts'
import { type Candidate, isFull, type RoutedChannel, type RouteRequest, rests, route } from '../../router.ts'
import { estimate } from '../counting/estimate.ts'
import type { Answered, Attempt, Emulation } from '../types.ts'

/** Milliseconds after which nobody waits for a count any more: an estimate takes none. */
const PATIENCE = 10_000

/**
 * A count by the upstream where it has a call for that, else by estimate (trap 80): also where the call fails in
 * whatever way, for callers cannot do without, and a count that fails says nothing of how well the channel is.
 */
export const counting: Emulation = {
  losses: () => [],
  answer: async (attempt, ask) => {
    const { candidate, channel, request } = attempt
    if (!candidate.emulated && isWell(channel, candidate)) {
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
async function counted(
  { call, request }: Attempt,
  ask: Parameters<Emulation['answer']>[1],
): Promise<Answered | undefined> {
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
const isWell = ({ health, config }: Channel, { upstreamModel }: Candidate): boolean =>
  !rests(health, upstreamModel, Date.now()) && !isFull(health, config)

/**
 * The channels to have a request's tokens counted by: as `route` says, and where every channel is full, as it would if none
 * were, since the gateway can estimate.
 *
 * @throws GatewayError for a model there is none of here, or that the key may not use.
 */
export function routeCount(request: RouteRequest, channels: readonly RoutedChannel[]): readonly Candidate[] {
  try {
    return route(request, channels)
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || thrown.error.retryAfterSeconds === undefined) throw thrown
    return route(
      request,
      channels.map(({ config, health }) => ({ config, health: { ...health, open: 0 } })),
    )
  }
}
