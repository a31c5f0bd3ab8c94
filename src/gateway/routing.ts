import type { Caller } from '../access/index.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { workOf } from '../canonical/work.ts'
import type { Config, OnLoss } from '../config.ts'
import { type Candidate, type RouteRequest, route } from '../router.ts'
import type { Call } from './call.ts'
import type { Channels } from './channels.ts'
import { weigh } from './prepare.ts'
import { checkCompaction } from './ways/compaction.ts'
import { routeCount } from './ways/counting.ts'

/** A request that wants a channel, and whose it is. */
export interface Routed {
  readonly call: Call
  readonly caller: Caller
  readonly request: CanonicalRequest
}

/**
 * The channels that may answer a request, the best first.
 *
 * @throws GatewayError as `route` does.
 */
export function routed(
  { call, caller, request }: Routed,
  onLoss: OnLoss,
  channels: Channels,
  models: Config['models'],
): readonly Candidate[] {
  const { model, cacheKey, state } = request
  const work = workOf(request)
  const facts = models.get(model)
  if (work === 'compaction') checkCompaction(model, facts)
  const ask: RouteRequest = {
    model,
    format: call.format,
    work,
    allowed: caller.group.models,
    now: Date.now(),
    draw: cacheKey ?? state?.conversation ?? call.id,
    facts,
    losses: (format, channel) => {
      const native = format.format === call.format
      const candidate = { channel, format, native, detour: false, upstreamModel: model, resting: false }
      return weigh(request, candidate, onLoss)
    },
  }
  return work === 'count' ? routeCount(ask, channels.all) : route(ask, channels.all)
}
