import type { Caller } from '../accounts/index.ts'
import { type Format, wireSourceOf } from '../canonical/node.ts'
import { type CanonicalRequest, isReasoningOff } from '../canonical/request.ts'
import { workOf } from '../canonical/work.ts'
import type { Config, OnLoss } from '../config/index.ts'
import type { ModelLimits } from '../formats/index.ts'
import type { Prices } from '../upstreams/catalogue/rates.ts'
import type { Channel } from '../upstreams/channel/index.ts'
import { rankBy } from '../upstreams/ranks.ts'
import { type RouteRequest, route, type Target } from '../upstreams/router.ts'
import { type AffinitySource, affinityOf } from './affinity.ts'
import type { Call } from './call.ts'
import { checkCompaction } from './emulations/compaction.ts'
import { routeCount } from './emulations/counting.ts'
import { lossScore, prepare } from './prepare.ts'
import { pricedTargets } from './priced.ts'
import { STORED_FORMAT, withStoredPrompt } from './stored/index.ts'
import type { OwnerReasoning } from './thoughts/reasoning-memory.ts'
import type { Incoming } from './types.ts'

/** The router's choices: channels, models and prices. */
export interface Destinations {
  readonly channels: readonly Channel[]
  readonly models: Config['models']
  readonly catalogue?: ModelLimits
  /** Prices by which budgets may refuse a target, or undefined if nothing will be sent yet. */
  readonly prices?: Prices
  /** Configured headers with a client's session id. */
  readonly sessionHeaders?: readonly string[] | undefined
}

/**
 * Returns the targets for a request, best first and never empty. Excludes targets that cannot access the stored state
 * that the request refers to. Among equal targets, those that issued the history's remembered reasoning come first.
 *
 * @throws GatewayError if there is no target.
 */
export function routeIncoming(
  incoming: Incoming,
  destinations: Destinations,
  reasoning: OwnerReasoning | undefined,
): readonly Target[] {
  const { call, caller, responseChain, request, onLoss, submission } = incoming
  const whole = responseChain === undefined ? request : asModel(responseChain.fullRequest, request.model)
  const all = routeRequest(call, caller, whole, onLoss, destinations, incoming)
  const routed = call.format === STORED_FORMAT ? withStoredPrompt(all, request) : all
  const targets = reasoning?.preferIssuer(routed, whole) ?? routed
  return (responseChain ?? submission)?.eligibleTargets(targets) ?? targets
}

/** Returns the request addressed to a model. The same object if it already is. */
export const asModel = (request: CanonicalRequest, model: string): CanonicalRequest =>
  request.model === model ? request : { ...request, model }

/**
 * Returns true if a request may be sent before its multipart form has arrived completely, which every target must
 * accept unchanged. Also true if there is no target, because the error needs no files. False for a video task, which is
 * first stored with its complete form.
 */
export function maySendEarly(
  call: Call,
  caller: Caller,
  request: CanonicalRequest,
  destinations: Destinations,
): boolean {
  if (workOf(request) === 'video') return false
  let targets: readonly Target[]
  try {
    targets = routeRequest(call, caller, request, 'show', destinations)
  } catch {
    return true
  }
  return targets.every(target => target.native && !target.emulated && prepare(request, target).wire.files !== undefined)
}

function routeRequest(
  call: Call,
  caller: Caller,
  request: CanonicalRequest,
  onLoss: OnLoss,
  { channels, models, catalogue, prices, sessionHeaders }: Destinations,
  incoming?: Incoming,
): readonly Target[] {
  const { model } = request
  const work = workOf(request)
  const facts = models.get(model)
  if (work === 'compaction') checkCompaction(model, facts)
  const format = call.fromGateway === true ? NO_FORMAT : call.format
  const query: RouteRequest = {
    model,
    callerModel: wireSourceOf<unknown, CanonicalRequest>(request, format)?.node.model,
    format,
    work,
    permissions: caller.permissions,
    now: Date.now(),
    facts,
    catalogue,
    functions: functionsOf(request),
    draw: call.id,
    rank: facts?.order === undefined ? undefined : rankBy(facts.order, { model, channels, prices, work }),
    affinity: () => {
      const affinity = affinityOf(request, work, call.message.headers, caller.id, sessionHeaders)
      if (incoming !== undefined) noteAffinity(incoming, affinity?.source)
      return affinity?.key
    },
    losses: (upstream, channel) => {
      const native = upstream.format === format
      return lossScore(
        request,
        { channel, format: upstream, native, emulated: false, upstreamModel: model, resting: false },
        onLoss,
      )
    },
  }
  if (work === 'count') return routeCount(query, channels)
  return pricedTargets(route(query, channels), { model, work, caller, prices })
}

/** Returns what a request with functions says about reasoning, or undefined if it has none or turns reasoning off. */
function functionsOf({ tools, reasoning }: CanonicalRequest): RouteRequest['functions'] {
  if (tools?.some(({ type }) => type === 'function') !== true) return undefined
  const isOff = reasoning === undefined ? undefined : isReasoningOff(reasoning)
  return isOff === undefined ? 'unstated' : isOff ? undefined : 'thinking'
}

function noteAffinity({ report, capture }: Incoming, by: AffinitySource | undefined): void {
  report.affinity = by
  if (capture !== undefined) capture.affinity = by
}

/** Format of requests that the gateway itself makes. No upstream is native for this format. */
const NO_FORMAT: Format = ''
