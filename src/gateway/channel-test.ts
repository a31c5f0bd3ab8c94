import type { IncomingMessage } from 'node:http'
import { permissionsOf } from '../accounts/permissions.ts'
import { type ErrorKind, GatewayError } from '../canonical/error.ts'
import { defined } from '../canonical/node.ts'
import { type CanonicalRequest, userMessage } from '../canonical/request.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import type { Work } from '../canonical/work.ts'
import type { ModelFacts } from '../config/index.ts'
import type { Log } from '../log.ts'
import type { Channel } from '../upstreams/channel/index.ts'
import { type RoutedChannel, route, type Target } from '../upstreams/router.ts'
import type { Seal } from './compaction/seals.ts'
import { logMessage, toFailure } from './failures.ts'
import type { ImageDelivery } from './image-store.ts'
import { updateListing } from './listing.ts'
import { abilitiesOf } from './models.ts'
import { NoReply, ownCall } from './own-requests.ts'
import { Report } from './report.ts'
import { roundTrip } from './round-trip.ts'
import { withoutAddresses } from './secrets.ts'
import { targetFailure } from './target-failure.ts'
import type { Attempt } from './types.ts'

/** What became of a test of a channel. */
export interface ChannelTest {
  readonly ok: boolean
  /** The work that was requested; `listing` where none of it costs next to nothing. */
  readonly work: Work | 'listing'
  /** The public id of the model. */
  readonly model?: string
  /** The format it was requested in. */
  readonly format?: string
  readonly latency: number
  /** The upstream's status, where it answered with an error. */
  readonly status?: number
  /** The beginning of what the model said. */
  readonly text?: string
  readonly error?: { readonly kind: ErrorKind; readonly message: string }
}

export interface ChannelTestOptions {
  readonly model: string | undefined
  readonly facts: ReadonlyMap<string, ModelFacts>
  readonly log: Log
  readonly images: ImageDelivery
  readonly seal: Seal
  /** Milliseconds it may take. */
  readonly timeout: number
}

/** Requests that cost next to nothing, by the work they ask for. */
const REQUESTS: readonly (readonly [Work, Pick<CanonicalRequest, 'output' | 'sampling'>])[] = [
  ['conversation', { output: {}, sampling: { maxTokens: 1 } }],
  ['completion', { output: { completion: {} }, sampling: { maxTokens: 1 } }],
  ['embedding', { output: { modalities: ['embedding'] }, sampling: {} }],
  ['ranking', { output: { ranking: { query: 'ping' } }, sampling: {} }],
]

/**
 * Sends a channel one small request, whatever state it is in; it is no request of any key. A channel for other work is
 * asked for its list of models. Never rejects for what the upstream does.
 *
 * @throws GatewayError `not-found` where the channel does not have the model.
 */
export async function testChannel(channel: Channel, options: ChannelTestOptions): Promise<ChannelTest> {
  const model = options.model ?? firstModel(channel)
  const chosen = targetOf(channel, model, options.facts)
  const began = performance.now()
  const latency = (): number => Math.round((performance.now() - began) * 10) / 10
  if (chosen === undefined) {
    const isListed = await updateListing(channel)
    return { ok: isListed, work: 'listing', latency: latency(), ...(isListed ? {} : { error: UNLISTED }) }
  }
  const [target, work, request] = chosen
  const signal = AbortSignal.timeout(options.timeout)
  const tested = { work, model: request.model, format: target.format.format }
  try {
    const answered = await roundTrip(attemptOf(request, target, channel, options), request, signal)
    return { ok: true, ...tested, latency: latency(), ...textOf(answered.result) }
  } catch (thrown) {
    return { ok: false, ...tested, latency: latency(), ...failureOf(thrown, target, channel, options, signal) }
  }
}

const firstModel = ({ config, listed }: Channel): string | undefined =>
  config.models.named.keys().next().value ?? listed?.values().next().value

/** How the channel would do the cheapest work it can do with the model. */
function targetOf(
  { config, listed }: Channel,
  model: string | undefined,
  facts: ReadonlyMap<string, ModelFacts>,
): readonly [Target, Work, CanonicalRequest] | undefined {
  if (model === undefined) return undefined
  const formats = config.formats.map(({ format }) => format)
  const embeds = abilitiesOf({ id: model, formats }, facts.get(model)).embeds
  // Whatever state it is in, it is to be tested.
  const health = { inFlight: 0, ...(listed === undefined ? {} : { listed }) }
  for (const [work, request] of REQUESTS) {
    if (embeds && work !== 'embedding') continue
    const target = routed({ config, health }, model, work, facts)
    if (target !== undefined) return [target, work, { ...request, model, messages: PING, stream: false }]
  }
  return undefined
}

const PING = [userMessage('ping')]

/** Undefined where the channel does not do that work; throws GatewayError where it does not have the model. */
function routed(
  channel: RoutedChannel,
  model: string,
  work: Work,
  facts: ReadonlyMap<string, ModelFacts>,
): Target | undefined {
  const query = { model, format: '', work, permissions: ANY, now: 0, draw: '', facts: facts.get(model) }
  try {
    const [target] = route(query, [channel])
    return target?.emulated === true ? undefined : target
  } catch (thrown) {
    if (thrown instanceof GatewayError && thrown.error.code === 'model_not_supported') return undefined
    throw thrown
  }
}

const ANY = permissionsOf({ limits: {}, enabled: true }, { name: '', models: ['*'], limits: {}, onLoss: 'show' })

function attemptOf(
  request: CanonicalRequest,
  target: Target,
  channel: Channel,
  { images, seal }: ChannelTestOptions,
): Attempt {
  // No header of anybody's reaches the upstream.
  const call = ownCall('', '', { headers: {} } as IncomingMessage, new NoReply())
  return {
    ...{ call, request, target, channel, images, seal, report: new Report(call), onLoss: 'show', heartbeat: 0 },
    ...{ trailing: undefined, early: undefined, stored: undefined, echo: undefined, thoughts: undefined },
    ...{ submission: undefined, capture: undefined },
  }
}

/** Characters of the model's answer that are shown. */
const LONGEST = 200

function textOf({ candidates }: CanonicalResult): { readonly text?: string } {
  const parts = candidates[0]?.content ?? []
  const text = parts.map(part => (part.type === 'text' ? part.text : '')).join('')
  return text === '' ? {} : { text: text.slice(0, LONGEST) }
}

/** The failure, which counts as that of any request does, in the words of the upstream without its credentials and inner addresses. */
function failureOf(
  thrown: unknown,
  target: Target,
  channel: Channel,
  { log }: ChannelTestOptions,
  signal: AbortSignal,
): Pick<ChannelTest, 'status' | 'error'> {
  const failure = signal.aborted ? LATE : toFailure(thrown)
  targetFailure(failure, { target, channel, model: target.upstreamModel, log })
  const { kind, status } = failure.error
  return { ...defined({ status }), error: { kind, message: withoutAddresses(logMessage(failure.error, target)) } }
}

const LATE = new GatewayError({ kind: 'timed-out', message: 'The upstream did not answer in time.' })
const UNLISTED = { kind: 'upstream-failed', message: 'The upstream does not list its models.' } as const
