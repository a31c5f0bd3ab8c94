import type { RawData, WebSocket } from 'ws'
import { type CanonicalError, GatewayError } from '../../../canonical/error.ts'
import { isObject, type Json, type JsonObject, parseObject, stringIn } from '../../../canonical/node.ts'
import { type CallerSocket, TEXT_FRAME } from '../../caller-socket.ts'
import { closeSocket, GOING_AWAY, relayedCode } from '../../closing.ts'
import { eventFailure } from '../../event-failure.ts'
import { Heartbeat } from '../../heartbeat.ts'
import { HIGH_WATER_MARK, LOW_WATER_MARK } from '../../limits.ts'
import { BaseVoiceSession, type SessionModels, type SessionRecord } from '../../voice-session.ts'
import { checkCase, exactNames, hasRepeatedFields } from '../fields.ts'
import { writeError } from './errors.ts'
import { frameType, isAudio } from './frame-type.ts'
import { readUsage } from './usage.ts'

export interface RelayOptions {
  readonly caller: CallerSocket
  /** Open, paused socket. `first` holds the frames received so far, starting with `session.created`. */
  readonly upstream: WebSocket
  readonly first: readonly Buffer[]
  readonly record: SessionRecord
  readonly models: SessionModels
  /** Removes everything that identifies the upstream from a value. */
  readonly scrub: <T extends Json>(value: T) => T
  readonly newId: (prefix: string) => string
  readonly heartbeat: number
}

/**
 * Relays frames between a caller and an upstream of the same format. Only the few frames that name the model or contain
 * usage are parsed and rewritten.
 */
export class Relay extends BaseVoiceSession<RelayOptions> {
  private readonly pingTimer: NodeJS.Timeout
  /** Number of open connections, of the caller and the upstream. */
  private open = 2
  private slow = false
  private readonly heartbeat = new Heartbeat()
  private readonly id: string

  constructor(options: RelayOptions) {
    super(options)
    this.id = options.newId('sess')
    this.pingTimer = setInterval(this.ping, options.heartbeat)
  }

  start(): void {
    const { caller, upstream, first } = this.options
    upstream.on('message', this.fromUpstream)
    upstream.on('pong', () => this.heartbeat.answered())
    upstream.once('close', this.upstreamClosed)
    caller.start(this)
    for (const frame of first) this.fromUpstream(frame, false)
    if (upstream.readyState === upstream.CLOSED) this.upstreamClosed(1006, Buffer.alloc(0))
    else upstream.resume()
  }

  override terminate(): void {
    this.options.caller.terminate()
    this.options.upstream.terminate()
    this.end(GOING_AWAY, '')
  }

  override frame(data: Buffer): void {
    if (isAudio(data)) this.options.upstream.send(data, TEXT_FRAME, this.onSent)
    else this.event(data)
    this.checkUpstream()
  }

  private event(data: Buffer): void {
    const written = data.toString()
    const value = parseObject(written)
    try {
      if (value === undefined) throw NOT_JSON
      checkCase(value, CHECKED_EVENT_FIELDS)
      const named = this.options.models.incoming(value)
      // A duplicate field is ambiguous to JSON readers, so that such a frame is written anew.
      const isSame = named === value && !hasRepeatedFields(written, value)
      if (value['type'] === 'response.create') this.requestResponse(idOf(value))
      this.options.upstream.send(isSame ? data : JSON.stringify(named), TEXT_FRAME, this.onSent)
    } catch (thrown) {
      this.fail(eventFailure(thrown, 'invalid-request'), idOf(value))
    }
  }

  override callerClosed(code: number, reason: string): void {
    this.end(code === 1006 ? GOING_AWAY : relayedCode(code), reason)
    this.sideClosed()
  }

  private readonly fromUpstream = (data: RawData, isBinary: boolean): void => {
    const frame = Array.isArray(data) ? Buffer.concat(data) : (data as Buffer)
    this.heartbeat.answered()
    try {
      this.toCaller(isBinary ? Buffer.from(frame.toString()) : frame)
    } catch (thrown) {
      this.fail(eventFailure(thrown, 'upstream-failed'))
    }
  }

  private toCaller(frame: Buffer): void {
    const type = frameType(frame)
    if (type === undefined) {
      this.fail(MALFORMED_FRAME)
      return
    }
    const read = Object.hasOwn(READ, type) ? READ[type] : undefined
    const text = read === undefined ? frame : read.call(this, frame)
    if (text !== undefined && !this.options.caller.send(text) && !this.over) this.options.upstream.pause()
    if (type === 'response.done') this.stopIfFinished()
  }

  /** Replaces the session's id by the gateway's and removes a secret that only the upstream accepts. @internal */
  session(frame: Buffer): string | Buffer {
    const value = parseObject(frame.toString())
    const session = value?.['session']
    if (value === undefined || !isObject(session)) return frame
    const { client_secret: secret, ...fields } = session
    const shown = secret === null ? session : fields
    return JSON.stringify(this.options.models.outgoing({ ...value, session: { ...shown, id: this.id } }))
  }

  /** Counts a response that starts. @internal */
  responseCreated(frame: Buffer): Buffer {
    const response = parseObject(frame.toString())?.['response']
    this.responseBegan(stringIn(isObject(response) ? response['id'] : undefined))
    return frame
  }

  protected override cancel(response: string): void {
    this.options.upstream.send(JSON.stringify({ type: 'response.cancel', response_id: response }))
  }

  /** Records the usage of a response and removes everything that identifies the upstream from its error. @internal */
  responseDone(frame: Buffer): string | Buffer {
    const value = parseObject(frame.toString())
    const response = value?.['response']
    if (!isObject(response)) return frame
    this.responseEnded(stringIn(response['id']), readUsage(response['usage']))
    const { status_details: details } = response
    if (!isObject(details) || details['error'] == null) return frame
    return JSON.stringify({ ...value, response: { ...response, status_details: this.options.scrub(details) } })
  }

  /** Records the usage of a transcription. @internal */
  transcribed(frame: Buffer): Buffer {
    const usage = readUsage(parseObject(frame.toString())?.['usage'])
    if (usage !== undefined) this.options.record.recordUsage(usage)
    return frame
  }

  /** Forgets the requested response that the upstream refused with this error. @internal */
  error(frame: Buffer): string {
    const error = parseObject(frame.toString())?.['error']
    this.refused(idOf(isObject(error) ? error : undefined))
    return this.scrubbed(frame)
  }

  /** Removes everything that identifies the upstream from a frame. @internal */
  scrubbed(frame: Buffer): string {
    return JSON.stringify(this.options.scrub(parseObject(frame.toString()) ?? {}))
  }

  protected override fail(error: CanonicalError, event?: string): void {
    const { caller, newId } = this.options
    caller.send(JSON.stringify({ type: 'error', event_id: newId('event'), error: writeError(error, event) }))
  }

  protected override release(code: number, reason: string): void {
    clearInterval(this.pingTimer)
    closeSocket(this.options.upstream, code, reason)
  }

  private readonly upstreamClosed = (code: number, reason: Buffer): void => {
    this.end(relayedCode(code), this.options.scrub(reason.toString()))
    this.sideClosed()
  }

  private sideClosed(): void {
    if (--this.open === 0) this.settled.resolve()
  }

  private checkUpstream(): void {
    if (this.slow || this.options.upstream.bufferedAmount <= HIGH_WATER_MARK) return
    this.slow = true
    this.options.caller.pause()
  }

  private readonly onSent = (): void => {
    if (!this.slow || this.options.upstream.bufferedAmount > LOW_WATER_MARK) return
    this.slow = false
    this.options.caller.resume()
  }

  private readonly ping = (): void => {
    const { upstream } = this.options
    if (!upstream.isPaused) this.heartbeat.ping(upstream)
  }
}

type Read = (this: Relay, frame: Buffer) => string | Buffer

/** Upstream frames that are parsed, with their handlers. */
const READ: { readonly [type: string]: Read } = {
  'session.created': Relay.prototype.session,
  'session.updated': Relay.prototype.session,
  'transcription_session.created': Relay.prototype.session,
  'transcription_session.updated': Relay.prototype.session,
  'response.created': Relay.prototype.responseCreated,
  'response.done': Relay.prototype.responseDone,
  'conversation.item.input_audio_transcription.completed': Relay.prototype.transcribed,
  'conversation.item.input_audio_transcription.failed': Relay.prototype.scrubbed,
  error: Relay.prototype.error,
}

const idOf = (value: JsonObject | undefined): string | undefined =>
  typeof value?.['event_id'] === 'string' ? value['event_id'] : undefined

const MALFORMED_FRAME: CanonicalError = {
  kind: 'upstream-failed',
  message: 'The upstream sent a frame that is not a JSON object.',
}
const CHECKED_EVENT_FIELDS = exactNames('type')

const NOT_JSON = new GatewayError({
  kind: 'invalid-request',
  code: 'invalid_json',
  message: 'The frame is not a JSON object.',
})
