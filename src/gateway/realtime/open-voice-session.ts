import type { WebSocket } from 'ws'
import type { Caller } from '../../accounts/index.ts'
import { type CanonicalError, GatewayError, notFound } from '../../canonical/error.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import { PCM_24K, type VoiceSessionSettings } from '../../canonical/voice-session.ts'
import type { Config, OnLoss } from '../../config/index.ts'
import type { Log } from '../../log.ts'
import { freshId } from '../../store/usage/request-id.ts'
import type { Catalogue } from '../../upstreams/catalogue/index.ts'
import type { Prices } from '../../upstreams/catalogue/rates.ts'
import type { Channel, TraceHeaders } from '../../upstreams/channel/index.ts'
import { route, type Target } from '../../upstreams/router.ts'
import { AudioPath } from '../../voice/audio-path.ts'
import { GOING_AWAY, INTERNAL } from '../../voice/closing.ts'
import { dial } from '../../voice/dial.ts'
import { EventBuffer } from '../../voice/event-buffer.ts'
import { ClientReader, eventIdOf } from '../../voice/formats/realtime/client-reader.ts'
import { matchesGeneration, readDialect } from '../../voice/formats/realtime/dialect.ts'
import { openRelay } from '../../voice/formats/realtime/open-relay.ts'
import { addressOf } from '../../voice/formats/realtime/protocol.ts'
import { Relay } from '../../voice/formats/realtime/relay.ts'
import { ServerWriter } from '../../voice/formats/realtime/server-writer.ts'
import { readSettings } from '../../voice/formats/realtime/settings-reader.ts'
import { type Naming, REALTIME } from '../../voice/formats/realtime/wire.ts'
import { SessionSocket } from '../../voice/session-socket.ts'
import { refusal, TranslatedSession } from '../../voice/translated-session.ts'
import type { RunRequest, Upstream, UpstreamOptions } from '../../voice/upstream.ts'
import { CALLER_DISCONNECTED } from '../../voice/upstream-errors.ts'
import { openCascade, openConverter, PROTOCOLS } from '../../voice/upstreams.ts'
import type { SessionModels, VoiceSession } from '../../voice/voice-session.ts'
import { WebSocketUpstream } from '../../voice/websocket-upstream.ts'
import type { Channels } from '../channels.ts'
import { mayRetry, moreUsefulFailure } from '../failures.ts'
import { pricedTargets } from '../priced.ts'
import { publicError } from '../public-answer.ts'
import { scrubber, scrubJson } from '../scrub.ts'
import { tracedAttempt } from '../send.ts'
import { targetFailure } from '../target-failure.ts'
import { voiceSessionModels } from './voice-session-models.ts'
import type { VoiceSessionRecord } from './voice-session-record.ts'
import { voiceSessionTargets } from './voice-session-targets.ts'

/** A requested voice session, before its connection is upgraded to a WebSocket. */
export interface VoiceSessionRequest {
  readonly id: string
  readonly caller: Caller
  /** Public id of the model. */
  readonly model: string
  readonly naming: Naming
  readonly onLoss: OnLoss
  /** Settings that a client secret prescribes for the session, in OpenAI's format. */
  readonly session: JsonObject | undefined
  /** True for a session that only transcribes. The URL of its upstream names no model. */
  readonly isTranscription: boolean
  /** True if the caller was already told that its session began. */
  readonly isAnnounced: boolean
  readonly record: VoiceSessionRecord
  /** Aborted when the caller disconnects before the session starts. */
  readonly signal: AbortSignal
  /** The caller's trace headers. They are sent to the upstream if the gateway does not trace the connection itself. */
  readonly traceHeaders: TraceHeaders | undefined
  readonly channels: Channels
  readonly config: Config
  readonly log: Log
  readonly run: RunRequest
}

/** An upstream that is ready for the caller's socket. */
interface UpstreamSide {
  start(socket: WebSocket): VoiceSession
  /** Closes the upstream connection, because the caller has disconnected. */
  abandon(): void
}

/** A voice session whose upstream is ready, before the caller's connection is upgraded. */
export interface OpenedVoiceSession extends UpstreamSide {
  readonly caller: Caller
}

/** Returns a new id with a prefix. */
export const newId = (prefix: string): string => `${prefix}_${freshId()}`

/**
 * Opens a voice session with the first target that accepts it.
 *
 * @param targets at least one target, best first.
 * @throws GatewayError the most useful of the targets' failures.
 */
export async function openVoiceSession(
  targets: readonly Target[],
  request: VoiceSessionRequest,
): Promise<OpenedVoiceSession> {
  let failure: GatewayError | undefined
  for (const target of targets) {
    const channel = request.channels.get(target.channel)
    request.record.target = target
    request.record.attempts++
    const release = channel.countSession()
    const trace = request.record.trace?.attempt(tracedAttempt(target))
    try {
      const traceHeaders = trace?.headers ?? request.traceHeaders
      const options = { ...request, traceHeaders, target, channel }
      const upstreamSide = await (isDirect(options) ? openDirect(options) : openTranslated(options))
      channel.stats.succeeded()
      trace?.end(undefined)
      return withRelease(upstreamSide, request, release)
    } catch (thrown) {
      release()
      trace?.end(undefined, thrown instanceof GatewayError ? thrown.error.kind : 'internal')
      if (request.signal.aborted) throw thrown
      const { id, model, log, record: report } = request
      const publicFailure = targetFailure(thrown, { target, channel, model, log, id, report })
      if (!mayRetry(publicFailure.error)) throw publicFailure
      failure = moreUsefulFailure(failure, publicFailure)
    }
  }
  throw failure!
}

/** Releases the channel's slot when the session ends for any reason. */
const withRelease = (
  { start, abandon }: UpstreamSide,
  { caller, record }: VoiceSessionRequest,
  release: () => void,
) => ({
  caller,
  start: (socket: WebSocket): VoiceSession => {
    const session = start(socket)
    void session.closed.then(release)
    return session
  },
  abandon: (): void => {
    abandon()
    release()
    record.ended(GOING_AWAY)
  },
})

/** Error for a model that neither an upstream nor a cascade can serve in voice sessions. */
const NO_CHANNEL = notFound('The model does not support voice sessions.', 'model', 'model_not_supported')

interface Destinations {
  readonly channels: Channels
  readonly config: Config
  readonly catalogue: Catalogue
}

/**
 * Returns the targets of a voice session, best first.
 *
 * @throws GatewayError like `route`; also `not-found` if no target can serve a voice session with the model.
 */
export function targetsOf(
  { id, model, caller }: Pick<VoiceSessionRequest, 'id' | 'model' | 'caller'>,
  { channels, config, catalogue, prices }: Destinations & { readonly prices: Prices },
): Target[] {
  const facts = config.models.get(model)
  const routed = route(
    { model, format: REALTIME, work: 'realtime', permissions: caller.permissions, now: Date.now(), facts, draw: id },
    channels.all,
  )
  const targets = voiceSessionTargets(routed, {
    cascades: config.realtime.cascade !== undefined,
    facts,
    about: ({ channel: { provider }, upstreamModel }) => catalogue.about(model, { provider, upstreamModel }),
  })
  if (targets.length === 0) throw NO_CHANNEL
  // A cascade's prices are checked later, when each of its requests is routed.
  const sessions = targets.filter(({ emulated }) => !emulated)
  const cascades = targets.some(({ emulated }) => emulated)
  const priced = cascades ? sessions : pricedTargets(sessions, { model, work: 'realtime', caller, prices })
  return targets.filter(target => target.emulated || priced.includes(target))
}

interface AttemptOptions extends VoiceSessionRequest {
  readonly target: Target
  readonly channel: Channel
}

/**
 * Returns true if frames can be passed on unchanged because caller and upstream use the same event names. The settings
 * of a client secret always use the names of the generally available (GA) API.
 */
const isDirect = ({ target, naming, session }: AttemptOptions): boolean =>
  target.native &&
  (naming === 'ga' || session === undefined) &&
  matchesGeneration(naming, readDialect(target.format.dialect))

/** Returns the models that a session's events may name. */
const modelsOf = ({ target, caller, model }: AttemptOptions): SessionModels =>
  voiceSessionModels({
    permissions: caller.permissions,
    ...{ model, upstreamModel: target.upstreamModel },
    models: target.native && !target.emulated ? target.channel.models : undefined,
  })

/** Opens a session that passes frames on unchanged. */
async function openDirect(options: AttemptOptions): Promise<UpstreamSide> {
  const { target, config, model, session, signal, channel, record, isTranscription, isAnnounced } = options
  const { upstreamModel } = target
  const models = modelsOf(options)
  const renamedSession = session && (models.incoming({ session })['session'] as JsonObject)
  const connect = connector(options, addressOf(upstreamModel, isTranscription))
  const { socket, first } = await openRelay({
    dial: connect,
    session: renamedSession && (isTranscription ? renamedSession : { ...renamedSession, model: upstreamModel }),
    firstEvent: channel.setupTimeout,
    signal,
  })
  const scrub = scrubber(target, model)
  return {
    start: caller => {
      const relay = new Relay({
        ...{ upstream: socket, first: isAnnounced ? first.slice(1) : first, record, models, newId },
        caller: callerSocket(caller, config),
        scrub: <T extends Json>(value: T) => scrubJson(value, scrub) as T,
        publicError: error => publicError(error, target, model),
        limits: config.realtime,
      })
      relay.start()
      return relay
    },
    abandon: () => socket.terminate(),
  }
}

/** Opens a session that translates events between caller and upstream. */
async function openTranslated(options: AttemptOptions): Promise<UpstreamSide> {
  const { target, config, model, naming, onLoss, record, session, isTranscription, isAnnounced } = options
  const models = modelsOf(options)
  const renamedSession = session && (models.incoming({ session })['session'] as JsonObject)
  const settings: VoiceSessionSettings = {
    ...(renamedSession && readSettings(renamedSession, 'session')),
    ...(isTranscription ? { purpose: 'transcription' } : {}),
  }
  const buffer = new EventBuffer()
  const formats = { input: settings.input?.format ?? PCM_24K, output: settings.output?.format ?? PCM_24K }
  const upstream = await openUpstream(options, {
    model: target.upstreamModel,
    settings: {
      ...settings,
      input: { ...settings.input, format: formats.input },
      output: { ...settings.output, format: formats.output },
    },
    listener: buffer,
    newId,
  })
  let audio: AudioPath
  try {
    const losses = upstream.losses({ type: 'session-update', settings })
    record.recordLosses(losses)
    const firstLoss = losses.find(({ restored }) => restored !== true)
    if (firstLoss !== undefined && onLoss === 'refuse')
      throw new GatewayError(refusal(firstLoss.path.slice(1), firstLoss.reason))
    audio = await AudioPath.open({ caller: formats, upstream: upstream.audio, open: openConverter })
  } catch (thrown) {
    upstream.close(INTERNAL, '')
    throw thrown
  }
  const reader = new ClientReader(formats.input, models.incoming)
  const writer = new ServerWriter({ naming, newId })
  return {
    start: socket => {
      const session = new TranslatedSession({
        ...{ upstream, audio, record, onLoss, model, models },
        caller: callerSocket(socket, config),
        format: {
          read: frame => reader.read(frame),
          eventId: eventIdOf,
          write: event => writer.write(event),
        },
        publicError: (error: CanonicalError) => publicError(error, target, model),
        scrub: scrubber(target, model),
        limits: config.realtime,
      })
      session.start()
      if (isAnnounced) buffer.skip('session-created')
      buffer.deliver(session)
      return session
    },
    abandon: () => {
      upstream.close(GOING_AWAY, '')
      audio.close()
    },
  }
}

function openUpstream(options: AttemptOptions, upstream: UpstreamOptions): Promise<Upstream> {
  const { target, channel, config, signal, run, model } = options
  const { cascade } = config.realtime
  if (target.emulated && cascade !== undefined)
    return openCascade({
      ...upstream,
      run,
      model,
      models: { ...cascade, conversation: model },
      ...(cascade.voice === undefined ? {} : { voice: cascade.voice }),
    })
  const { format, dialect } = target.format
  const Protocol = PROTOCOLS[format]
  if (Protocol === undefined) return Promise.reject(NO_CHANNEL)
  const protocol = new Protocol({ ...upstream, dialect })
  return WebSocketUpstream.open(
    {
      ...{ protocol, listener: upstream.listener },
      dial: connector(options, protocol.address),
      firstEvent: channel.setupTimeout,
    },
    signal,
  )
}

type Address = { readonly path: string; readonly query: { readonly [name: string]: string } }

/** Returns a function that connects to a target as soon as the channel has its credential. */
const connector =
  ({ target, channel, config, traceHeaders }: AttemptOptions, address: Address) =>
  async (signal: AbortSignal): Promise<SessionSocket> => {
    const { proxy, tls, timeout } = channel.config
    await whileWanted(channel.ready(), signal)
    const { url, headers, credential } = channel.endpoint(target.format, address)
    const connecting = dial({
      url,
      headers: { ...generationOf(target.format), ...headers, ...traceHeaders },
      timeout: timeout.connect,
      maxPayload: config.realtime.message,
      heartbeat: config.server.heartbeat,
      ...{ signal, proxy, tls },
    })
    return connecting.catch((thrown: unknown) => {
      if (thrown instanceof GatewayError && thrown.error.status === 401) channel.credentialRefused(credential)
      throw thrown
    })
  }

/** Waits for a credential, but no longer than the session is wanted. */
async function whileWanted(ready: Promise<void> | undefined, signal: AbortSignal): Promise<void> {
  if (ready === undefined) return
  const { promise, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(CALLER_DISCONNECTED)
  signal.addEventListener('abort', onAbort)
  try {
    await Promise.race([ready, promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** Returns OpenAI's header for beta events, by which an upstream that supports both versions chooses one. */
const generationOf = ({ format, dialect }: Target['format']): { readonly [name: string]: string } =>
  format === REALTIME && readDialect(dialect).naming === 'beta' ? { 'openai-beta': 'realtime=v1' } : {}

const callerSocket = (socket: WebSocket, { realtime, server }: Config): SessionSocket =>
  new SessionSocket(socket, { buffer: realtime.buffer, heartbeat: server.heartbeat })
