import type { Caller } from '../access/index.ts'
import type { Format } from '../canonical/node.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { workOf } from '../canonical/work.ts'
import type { Channel } from '../channel/index.ts'
import type { Config, OnLoss } from '../config/index.ts'
import { type Candidate, type RouteRequest, route } from '../router.ts'
import type { Call } from './call.ts'
import { checkCompaction } from './emulations/compaction.ts'
import { routeCount } from './emulations/counting.ts'
import { weigh } from './prepare.ts'

/** A request, and whose it is. */
interface Routed {
  readonly call: Call
  readonly caller: Caller
  readonly request: CanonicalRequest
}

/**
 * Who may answer a request, in the order in which they are to be asked.
 *
 * @throws GatewayError where nobody may.
 */
export function routeRequest(
  { call, caller, request }: Routed,
  onLoss: OnLoss,
  channels: readonly Channel[],
  models: Config['models'],
): readonly Candidate[] {
  const { model, cacheKey, state } = request
  const work = workOf(request)
  const facts = models.get(model)
  if (work === 'compaction') checkCompaction(model, facts)
  const asked = call.own === true ? NO_FORMAT : call.format
  const ask: RouteRequest = {
    ...{ model, format: asked, work, allowed: caller.group.models, now: Date.now(), facts },
    draw: cacheKey ?? state?.conversation ?? call.id,
    losses: (format, channel) => {
      const native = format.format === asked
      return weigh(request, { channel, format, native, emulated: false, upstreamModel: model, resting: false }, onLoss)
    },
  }
  return work === 'count' ? routeCount(ask, channels) : route(ask, channels)
}

const NO_FORMAT: Format = ''
