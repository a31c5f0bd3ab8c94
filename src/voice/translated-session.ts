import type { CanonicalError } from '../canonical/error.ts'
import type { VoiceSessionSettings } from '../canonical/voice-session.ts'
import type { ClientEvent, ServerEvent } from '../canonical/voice-session-event.ts'
import type { OnLoss } from '../config/index.ts'
import { type AudioPath, isFormatChange } from './audio-path.ts'
import type { CallerSocket } from './caller-socket.ts'
import { GOING_AWAY, relayedCode } from './closing.ts'
import { eventFailure } from './event-failure.ts'
import { HIGH_WATER_MARK, LOW_WATER_MARK } from './limits.ts'
import type { SessionEnd, Upstream, UpstreamListener } from './upstream.ts'
import { BaseVoiceSession, OTHER_MODEL, type SessionModels, type SessionRecord } from './voice-session.ts'

/** Translates between frames of the caller's format and canonical events. */
export interface CallerFormat {
  /** @throws GatewayError `invalid-request`. The session continues. */
  read(frame: string): ClientEvent
  /** Returns the client's event id in a frame that could not be read. */
  eventId(frame: string): string | undefined
  write(event: ServerEvent): readonly string[]
}

export interface TranslatedSessionOptions {
  readonly caller: CallerSocket
  readonly format: CallerFormat
  readonly upstream: Upstream
  readonly audio: AudioPath
  readonly record: SessionRecord
  readonly onLoss: OnLoss
  /** The caller's name for the model. */
  readonly model: string
  readonly models: Pick<SessionModels, 'publicName'>
  /** Removes everything from an upstream's error that would reveal the upstream. */
  readonly publicError: (error: CanonicalError) => CanonicalError
  /** Removes everything from an upstream's text that would reveal the upstream. */
  readonly scrub: (text: string) => string
}

/** Interval between checks whether the upstream's buffer has drained, in milliseconds. */
const BUFFER_CHECK_INTERVAL = 20

/**
 * A voice session whose caller and upstream use different formats. Events pass in canonical form, and audio is
 * converted both ways.
 */
export class TranslatedSession extends BaseVoiceSession<TranslatedSessionOptions> implements UpstreamListener {
  /** Events queued while audio converters are being opened. */
  private queued: ClientEvent[] | undefined
  private bufferCheck: NodeJS.Timeout | undefined

  start(): void {
    this.options.caller.start(this)
  }

  override terminate(): void {
    this.end(GOING_AWAY, '')
    this.options.caller.terminate()
  }

  override frame(data: Buffer): void {
    const { format } = this.options
    const text = data.toString()
    try {
      this.accept(format.read(text))
    } catch (thrown) {
      this.fail(eventFailure(thrown, 'invalid-request'), format.eventId(text))
    }
  }

  override callerClosed(code: number, reason: string): void {
    this.end(code === 1006 ? GOING_AWAY : relayedCode(code), reason)
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
    if (event.type === 'input-transcript-done') this.options.record.recordUsage(event.usage)
    this.write(this.publicEvent(event))
    if (event.type === 'response-end') this.stopIfFinished()
  }

  ended({ code, reason, error }: SessionEnd): void {
    if (this.over) return
    if (error !== undefined) this.fail(this.options.publicError(error.error))
    this.end(code, this.options.scrub(reason))
  }

  private accept(event: ClientEvent): void {
    if (this.queued !== undefined) this.queued.push(event)
    else if (isFormatChange(event)) this.reformat(event)
    else this.forward(event)
  }

  /** Opens the converters for new audio formats. The caller's events are queued meanwhile. */
  private reformat(event: ClientEvent): void {
    const { audio, caller } = this.options
    this.queued = []
    caller.pause()
    audio
      .change(event)
      .then(
        () => this.attempt(event, () => this.forward(event)),
        thrown => this.fail(eventFailure(thrown, 'invalid-request'), event.id),
      )
      .finally(() => {
        const queued = this.queued ?? []
        this.queued = undefined
        if (this.over) return
        for (const one of queued) this.attempt(one, () => this.accept(one))
        if (this.bufferCheck === undefined && this.queued === undefined) caller.resume()
      })
  }

  /** Runs `work`. An exception becomes an `error` event about the given event. */
  private attempt(event: ClientEvent, work: () => void): void {
    try {
      work()
    } catch (thrown) {
      this.fail(eventFailure(thrown, 'invalid-request'), event.id)
    }
  }

  private forward(event: ClientEvent): void {
    const { upstream, audio, record, onLoss } = this.options
    if (this.over) return
    if (!this.isAllowed(event)) return
    const losses = upstream.losses(event)
    record.recordLosses(losses)
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

  /** Replaces the upstream's model name and removes everything that identifies the upstream. */
  private publicEvent(event: ServerEvent): ServerEvent {
    const { model, publicError: shown } = this.options
    if (event.type === 'session-created' || event.type === 'session-updated')
      return { ...event, settings: { ...event.settings, ...this.withPublicTranscriptionModel(event.settings), model } }
    if (event.type === 'error') {
      this.refused(event.event)
      this.options.record.recordError(event.error)
      return { ...event, error: shown(event.error) }
    }
    if (event.type === 'input-transcript-failed') return { ...event, error: shown(event.error) }
    if (event.type === 'response-end' && event.error !== undefined) return { ...event, error: shown(event.error) }
    return event
  }

  /** Replaces the upstream's name of the transcription model by the caller's. */
  private withPublicTranscriptionModel({ input }: VoiceSessionSettings): Pick<VoiceSessionSettings, 'input'> {
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
    clearInterval(this.bufferCheck)
    this.options.upstream.close(code, reason)
    this.options.audio.close()
  }

  /** Pauses reading from the caller while the upstream's buffer is full. */
  private checkUpstream(): void {
    const { upstream, caller } = this.options
    if (this.bufferCheck !== undefined || upstream.buffered <= HIGH_WATER_MARK) return
    caller.pause()
    this.bufferCheck = setInterval(() => {
      if (upstream.buffered > LOW_WATER_MARK) return
      clearInterval(this.bufferCheck)
      this.bufferCheck = undefined
      if (this.queued === undefined) caller.resume()
    }, BUFFER_CHECK_INTERVAL)
  }
}

/** Creates the error for an event with losses, for keys that refuse losses. */
export const refusal = (path: readonly (string | number)[], reason: string): CanonicalError => ({
  kind: 'cannot-express',
  code: 'cannot_express',
  param: path.join('.'),
  message: `'${path.join('.')}' has no equivalent at the upstream (${reason}), and this key refuses losses.`,
})
