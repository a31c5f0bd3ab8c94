import type { IncomingMessage } from 'node:http'
import type { Caller } from '../accounts/index.ts'
import { permissionsOf } from '../accounts/permissions.ts'
import { type ErrorKind, type FailureReason, GatewayError } from '../canonical/error.ts'
import { msSince } from '../canonical/milliseconds.ts'
import { defined } from '../canonical/node.ts'
import { type CanonicalRequest, userMessage } from '../canonical/request.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import type { Work } from '../canonical/work.ts'
import type { ModelFacts } from '../config/index.ts'
import type { Log } from '../log.ts'
import type { Channel } from '../upstreams/channel/index.ts'
import { type RoutedChannel, route, type Target } from '../upstreams/router.ts'
import { publicNamesOf } from '../upstreams/upstream-names.ts'
import { gatewayCall, NO_STATE, NoReply } from './caller-requests.ts'
import type { StateCipher } from './compaction/state-cipher.ts'
import { upstreamFailure } from './failure-of.ts'
import { toFailure } from './failures.ts'
import type { ImageDelivery } from './image-store.ts'
import { updateListing } from './listing.ts'
import { abilitiesOf } from './models.ts'
import { Report } from './report.ts'
import { roundTrip } from './round-trip.ts'
import { targetFailure } from './target-failure.ts'
import type { Attempt, Incoming } from './types.ts'

/** The result of a channel test. */
export interface ChannelTest {
  readonly ok: boolean
  /** Work of the test request, or `listing` if the channel supports none of the cheap kinds of work. */
  readonly work: Work | 'listing'
  /** Public id of the tested model. */
  readonly model?: string
  /** Format of the test request. */
  readonly format?: string
  readonly latency: number
  /** HTTP status of the upstream's error answer. */
  readonly status?: number
  /** Beginning of the model's answer. */
  readonly text?: string
  readonly error?: { readonly kind: ErrorKind; readonly reason?: FailureReason; readonly message: string }
}

/** Settings and services of a channel test. */
export interface ChannelTestOptions {
  readonly model: string | undefined
  readonly facts: ReadonlyMap<string, ModelFacts>
  readonly log: Log
  readonly images: ImageDelivery
  readonly seal: StateCipher
  /** Timeout of the test, in milliseconds. */
  readonly timeout: number
}

/** Test requests that cost next to nothing, by kind of work. */
const REQUESTS: readonly (readonly [Work, Pick<CanonicalRequest, 'output' | 'sampling'>])[] = [
  ['conversation', { output: {}, sampling: { maxTokens: 1 } }],
  ['completion', { output: { completion: {} }, sampling: { maxTokens: 1 } }],
  ['embedding', { output: { modalities: ['embedding'] }, sampling: {} }],
  ['ranking', { output: { ranking: { query: 'ping' } }, sampling: {} }],
]

/**
 * Sends one small request to a channel, even if the channel is resting, full or drained. No key is charged.
 * If the channel does none of the cheap kinds of work, requests its list of models instead. Returns an upstream's
 * failure as a result and never rejects because of it.
 *
 * @throws GatewayError `not-found` if the channel does not have the model.
 */
export async function testChannel(channel: Channel, options: ChannelTestOptions): Promise<ChannelTest> {
  const model = options.model ?? firstModel(channel)
  const choice = targetOf(channel, model, options.facts)
  const startTime = performance.now()
  const latency = (): number => msSince(startTime)
  if (choice === undefined) {
    const isListed = await updateListing(channel)
    return { ok: isListed, work: 'listing', latency: latency(), ...(isListed ? {} : { error: NO_LISTING }) }
  }
  const [target, work, request] = choice
  const { sender } = channel
  const signal = AbortSignal.timeout(options.timeout)
  const testedRequest = { work, model: request.model, format: target.format.format }
  try {
    const answer = await roundTrip(attemptOf(request, target, sender, options), request, signal)
    return { ok: true, ...testedRequest, latency: latency(), ...textOf(answer.result) }
  } catch (thrown) {
    return { ok: false, ...testedRequest, latency: latency(), ...failureOf(thrown, target, sender, options, signal) }
  }
}

const firstModel = ({ config, listed }: Channel): string | undefined =>
  config.models.named.keys().next().value ?? [...(listed ?? [])].flatMap(id => publicNamesOf(config.models, id))[0]

/** Returns the target and the request for the cheapest work that the channel does with the model. */
function targetOf(
  { sender: { config }, listed }: Channel,
  model: string | undefined,
  facts: ReadonlyMap<string, ModelFacts>,
): readonly [Target, Work, CanonicalRequest] | undefined {
  if (model === undefined) return undefined
  const formats = config.formats.map(({ format }) => format)
  const embeds = abilitiesOf({ id: model, formats }, facts.get(model)).embeds
  // A new health record, so that the router accepts the channel in any state.
  const health = { inFlight: 0, ...(listed === undefined ? {} : { listed }) }
  for (const [work, request] of REQUESTS) {
    if (embeds && work !== 'embedding') continue
    const target = routedTarget({ config, health }, model, work, facts)
    if (target !== undefined) return [target, work, { ...request, model, messages: PING, stream: false }]
  }
  return undefined
}

const PING = [userMessage('ping')]

/**
 * Routes the test request. Returns undefined if the channel does not do this work. Throws GatewayError if it does not
 * have the model.
 */
function routedTarget(
  channel: RoutedChannel,
  model: string,
  work: Work,
  facts: ReadonlyMap<string, ModelFacts>,
): Target | undefined {
  const query = { model, format: '', work, permissions: ALL_PERMISSIONS, now: 0, draw: '', facts: facts.get(model) }
  try {
    const [target] = route(query, [channel])
    return target?.emulated === true ? undefined : target
  } catch (thrown) {
    if (thrown instanceof GatewayError && thrown.error.code === 'model_not_supported') return undefined
    throw thrown
  }
}

const ALL_PERMISSIONS = permissionsOf(
  { limits: {}, enabled: true },
  { name: '', models: ['*'], limits: {}, onLoss: 'show' },
)

const OPERATOR: Caller = { key: 'administrators', id: 'administrators', group: '', permissions: ALL_PERMISSIONS }

function attemptOf(
  request: CanonicalRequest,
  target: Target,
  channel: Channel,
  { images, seal }: ChannelTestOptions,
): Attempt {
  // An empty message, because the upstream must not receive the administrator's headers.
  const call = gatewayCall('', '', { headers: {} } as IncomingMessage, new NoReply())
  const incoming: Incoming = { ...NO_STATE, call, request, caller: OPERATOR, report: new Report(call), onLoss: 'show' }
  return {
    ...{ incoming, request, target, channel, images, cipher: seal, heartbeat: 0 },
    ...{ early: undefined, stored: undefined, echo: undefined, reasoning: undefined },
    ...{ signers: undefined, mayBeSigned: false },
  }
}

/** Maximum number of characters of the model's answer in the result. */
const MAX_TEXT_LENGTH = 200

function textOf({ candidates }: CanonicalResult): { readonly text?: string } {
  const parts = candidates[0]?.content ?? []
  const text = parts.map(part => (part.type === 'text' ? part.text : '')).join('')
  return text === '' ? {} : { text: text.slice(0, MAX_TEXT_LENGTH) }
}

/**
 * Reports the failure of a test. The failure counts towards the channel's health like any other. The result contains
 * the upstream's message without credentials and internal addresses.
 */
function failureOf(
  thrown: unknown,
  target: Target,
  channel: Channel,
  { log }: ChannelTestOptions,
  signal: AbortSignal,
): Pick<ChannelTest, 'status' | 'error'> {
  const failure = signal.aborted ? TIMED_OUT : toFailure(thrown)
  targetFailure(failure, { target, channel, model: target.upstreamModel, log })
  const { kind } = failure.error
  const { status, reason, said = '' } = upstreamFailure(failure, target)
  return { ...defined({ status }), error: { kind, reason, message: said } }
}

const TIMED_OUT = new GatewayError({
  ...{ kind: 'timed-out', reason: 'first-byte-timeout' },
  message: 'The upstream did not answer in time.',
})
const NO_LISTING = { kind: 'upstream-failed', message: 'The upstream does not list its models.' } as const
