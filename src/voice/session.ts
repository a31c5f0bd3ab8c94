import type { CanonicalError } from '../canonical/error.ts'
import type { SessionSettings } from '../canonical/session.ts'
import type { ClientEvent, ServerEvent } from '../canonical/session-event.ts'
import type { OnLoss } from '../config/index.ts'
import { type AudioPath, isFormatChange } from './audio-path.ts'
import type { CallerSocket } from './caller-socket.ts'
import { GOING_AWAY, passedOn } from './closing.ts'
import { eventFailure } from './event-failure.ts'
import { OTHER_MODEL, Session, type SessionModels, type SessionRecord } from './live-session.ts'
import type { SessionEnd, Upstream, UpstreamListener } from './upstream.ts'

/** A caller's format: its frames as events, and events as its frames. */
export interface CallerFormat {
  /** @throws GatewayError `invalid-request`; the session goes on. */
  read(frame: string): ClientEvent
  /** The client's id of the event in a frame that could not be read. */
  eventId(frame: string): string | undefined
  write(event: ServerEvent): readonly string[]
}

export interface SessionOptions {
  readonly caller: CallerSocket
  readonly format: CallerFormat
  readonly upstream: Upstream
  readonly audio: AudioPath
  readonly record: SessionRecord
  readonly onLoss: OnLoss
  /** What the caller calls the model. */
  readonly model: string
  readonly models: Pick<SessionModels, 'publicName'>
  /** An upstream's error as a caller may see it. */
  readonly shown: (error: CanonicalError) => CanonicalError
  /** The same for a text of the upstream's. */
  readonly scrub: (text: string) => string
}

/** Bytes that may wait for the upstream before the caller is not read any more, and how often that is looked at, in milliseconds. */
const HIGH = 256 * 1024
const LOOK = 20

/** A caller and an upstream of different formats: canonical events between them, audio converted both ways. */
export class RealtimeSession extends Session<SessionOptions> implements UpstreamListener {
  /** Frames wait while audio converters are made. */
  private held: ClientEvent[] | undefined
  private looking: NodeJS.Timeout | undefined

  start(): void {
    this.options.caller.start(this)
  }

  override cut(): void {
    this.end(GOING_AWAY, '')
    this.options.caller.cut()
  }

  override frame(data: Buffer): void {
    const { format } = this.options
    const text = data.toString()
    try {
      this.take(format.read(text))
    } catch (thrown) {
      this.fail(eventFailure(thrown, 'invalid-request'), format.eventId(text))
    }
  }

  override left(code: number, reason: string): void {
    this.end(code === 1006 ? GOING_AWAY : passedOn(code), reason)
    this.settled.resolve()
  }

  event(event: ServerEvent): void {
    if (this.over) return
    try {
      this.deliver(event)
    } catch (thrown) {
      this.fail(eventFailure(thrown, 'upstream-failed'))
    }
  }

  private deliver(event: ServerEvent): void {
    if (event.type === 'response-start') this.responseBegan(event.response)
    if (event.type === 'response-end') this.responseEnded(event.response, event.usage)
    if (event.type === 'input-transcript-done') this.options.record.spent(event.usage)
    this.write(this.shown(event))
    if (event.type === 'response-end') this.stopIfFinished()
  }

  ended({ code, reason, error }: SessionEnd): void {
    if (this.over) return
    if (error !== undefined) this.fail(this.options.shown(error.error))
    this.end(code, this.options.scrub(reason))
  }

  private take(event: ClientEvent): void {
    if (this.held !== undefined) this.held.push(event)
    else if (isFormatChange(event)) this.reformat(event)
    else this.pass(event)
  }

  /** Converters are made while the caller waits. */
  private reformat(event: ClientEvent): void {
    const { audio, caller } = this.options
    this.held = []
    caller.pause()
    audio
      .change(event)
      .then(
        () => this.attempt(event, () => this.pass(event)),
        thrown => this.fail(eventFailure(thrown, 'invalid-request'), event.id),
      )
      .finally(() => {
        const held = this.held ?? []
        this.held = undefined
        if (this.over) return
        for (const one of held) this.attempt(one, () => this.take(one))
        if (this.looking === undefined && this.held === undefined) caller.resume()
      })
  }

  /** Does the work of an event; what it throws is an `error` event. */
  private attempt(event: ClientEvent, work: () => void): void {
    try {
      work()
    } catch (thrown) {
      this.fail(eventFailure(thrown, 'invalid-request'), event.id)
    }
  }

  private pass(event: ClientEvent): void {
    const { upstream, audio, record, onLoss } = this.options
    if (this.over) return
    if (!this.isAllowed(event)) return
    const losses = upstream.losses(event)
    record.lost(losses)
    const lost = losses.find(({ restored }) => restored !== true)
    if (lost !== undefined && onLoss === 'refuse') {
      this.fail(refusal(lost.path, lost.reason), event.id)
      return
    }
    if (event.type === 'response-create') this.requestResponse(event.id)
    for (const one of audio.incoming(event)) upstream.send(one)
    this.checkUpstream()
  }

  private isAllowed(event: ClientEvent): boolean {
    if (event.type !== 'session-update') return true
    const { model } = event.settings
    if (model === undefined || model === this.options.model) return true
    this.fail(OTHER_MODEL, event.id)
    return false
  }

  protected override cancel(response: string): void {
    this.options.upstream.send({ type: 'response-cancel', response })
  }

  /** With the caller's model, and nothing that identifies the upstream. */
  private shown(event: ServerEvent): ServerEvent {
    const { model, shown } = this.options
    if (event.type === 'session-created' || event.type === 'session-updated')
      return { ...event, settings: { ...event.settings, ...this.transcribing(event.settings), model } }
    if (event.type === 'error') {
      this.refused(event.event)
      this.options.record.failed(event.error)
      return { ...event, error: shown(event.error) }
    }
    if (event.type === 'input-transcript-failed') return { ...event, error: shown(event.error) }
    if (event.type === 'response-end' && event.error !== undefined) return { ...event, error: shown(event.error) }
    return event
  }

  /** The transcription model by the caller's name for it, where the upstream reports one. */
  private transcribing({ input }: SessionSettings): Pick<SessionSettings, 'input'> {
    const transcription = input?.transcription
    if (transcription?.model === undefined) return {}
    const model = this.options.models.publicName(transcription.model)
    return { input: { ...input, transcription: { ...transcription, model } } }
  }

  private write(event: ServerEvent): void {
    const { caller, format, audio, upstream } = this.options
    for (const one of audio.outgoing(event))
      for (const frame of format.write(one)) if (!caller.send(frame) && !this.over) upstream.pause()
  }

  protected override fail(error: CanonicalError, event?: string): void {
    const { caller, format } = this.options
    const frames = format.write({ type: 'error', error, ...(event === undefined ? {} : { event }) })
    for (const frame of frames) caller.send(frame)
  }

  protected override release(code: number, reason: string): void {
    clearInterval(this.looking)
    this.options.upstream.close(code, reason)
    this.options.audio.close()
  }

  /** An upstream that is behind: the caller is not read until it has caught up. */
  private checkUpstream(): void {
    const { upstream, caller } = this.options
    if (this.looking !== undefined || upstream.buffered <= HIGH) return
    caller.pause()
    this.looking = setInterval(() => {
      if (upstream.buffered > HIGH / 4) return
      clearInterval(this.looking)
      this.looking = undefined
      if (this.held === undefined) caller.resume()
    }, LOOK)
  }
}

/** What a key that refuses losses is answered where there is one. */
export const refusal = (path: readonly (string | number)[], reason: string): CanonicalError => ({
  kind: 'cannot-express',
  code: 'cannot_express',
  param: path.join('.'),
  message: `'${path.join('.')}' has no equivalent at the upstream (${reason}), and this key refuses losses.`,
})
