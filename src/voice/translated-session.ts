import type { CanonicalError } from '../canonical/error.ts'
import type { VoiceSessionSettings } from '../canonical/voice-session.ts'
import type { ClientEvent, ServerEvent } from '../canonical/voice-session-event.ts'
import type { OnLoss } from '../config/index.ts'
import { type AudioPath, isFormatChange } from './audio-path.ts'
import { BaseVoiceSession, type SessionParts } from './base-voice-session.ts'
import { eventFailure } from './event-failure.ts'
import { withStatedDetection } from './settings.ts'
import type { Upstream, UpstreamListener } from './upstream.ts'
import { type SessionModels, type TranscriptionModel, transcriptionModel } from './voice-session.ts'

/** Translates between frames of the caller's format and canonical events. */
export interface CallerFormat {
  /** @throws GatewayError `invalid-request`. The session continues. */
  read(frame: string): ClientEvent
  /** Returns the client's event id from a frame that could not be read. */
  eventId(frame: string): string | undefined
  write(event: ServerEvent): readonly string[]
}

export interface TranslatedSessionOptions extends SessionParts {
  readonly format: CallerFormat
  readonly upstream: Upstream
  readonly audio: AudioPath
  readonly onLoss: OnLoss
  /** The caller's name for the model. */
  readonly model: string
  readonly models: Pick<SessionModels, 'publicName'>
}

/**
 * A voice session whose caller and upstream use different formats. Events are translated through their canonical form,
 * and audio is converted in both directions.
 */
export class TranslatedSession extends BaseVoiceSession<TranslatedSessionOptions> implements UpstreamListener {
  /** Events queued while audio converters are being opened. */
  private queued: ClientEvent[] | undefined
  private transcription: TranscriptionModel | undefined

  protected override fromCaller(data: Buffer): void {
    const { format } = this.options
    const text = data.toString()
    try {
      this.accept(format.read(text))
    } catch (thrown) {
      this.fail(eventFailure(thrown, 'invalid-request'), format.eventId(text))
    }
  }

  event(event: ServerEvent): void {
    if (this.isOver) return
    try {
      this.deliver(event)
    } catch (thrown) {
      this.fail(eventFailure(thrown, 'upstream-failed'))
    }
  }

  private deliver(event: ServerEvent): void {
    this.hasExplained = event.type === 'error'
    if (event.type === 'response-start') this.responseBegan(event.response)
    if (event.type === 'response-end') {
      const isFinal = event.status === 'completed' && this.options.upstream.countsLate !== true
      this.responseEnded(event.response, event.usage, isFinal)
    }
    if (event.type === 'input-transcript-done' && (event.usage ?? event.seconds) !== undefined)
      this.options.record.recordTranscription(event.usage, this.transcription, event.seconds, event.isIncluded)
    this.measure(event)
    this.write(this.publicEvent(event))
    if (event.type === 'input-transcript-done') this.stopIfSpent()
    if (event.type === 'response-end') this.stopIfFinished()
  }

  /** Measures what the upstream generates, and remembers the model that transcribes. */
  private measure(event: ServerEvent): void {
    const { upstream, models } = this.options
    if (event.type === 'audio-delta') this.meter.speak(event.audio.length, upstream.audio.output)
    else if (event.type === 'text-delta' || event.type === 'transcript-delta' || event.type === 'arguments-delta')
      this.meter.write(event.text.length)
    else if (event.type === 'session-created' || event.type === 'session-updated')
      this.transcription = transcriptionModel(event.settings, models)
  }

  private accept(event: ClientEvent): void {
    if (this.queued !== undefined) this.queued.push(event)
    else if (isFormatChange(event)) this.reformat(event)
    else this.forward(event)
  }

  /** Opens the converters for new audio formats. Meanwhile, the caller's events are queued. */
  private reformat(event: ClientEvent): void {
    const { audio, caller } = this.options
    this.queued = []
    caller.pause('converting')
    audio
      .change(event)
      .then(
        () => this.attempt(event, () => this.forward(event)),
        thrown => this.fail(eventFailure(thrown, 'invalid-request'), event.id),
      )
      .finally(() => {
        const queued = this.queued ?? []
        this.queued = undefined
        if (this.isOver) return
        for (const one of queued) this.attempt(one, () => this.accept(one))
        if (this.queued === undefined) caller.resume('converting')
      })
  }

  /** Runs `work`. If it throws, sends an `error` event about the given event. */
  private attempt(event: ClientEvent, work: () => void): void {
    try {
      work()
    } catch (thrown) {
      this.fail(eventFailure(thrown, 'invalid-request'), event.id)
    }
  }

  private forward(event: ClientEvent): void {
    const { upstream, audio, record, onLoss } = this.options
    if (this.isOver) return
    const losses = [...upstream.losses(event), ...audio.losses(event)]
    record.recordLosses(losses)
    const lost = losses.find(({ restored }) => restored !== true)
    if (lost !== undefined && onLoss === 'refuse') {
      this.fail(refusal(lost.path, lost.reason), event.id)
      return
    }
    if (event.type === 'response-create') this.responses.request(event.id)
    for (const one of audio.incoming(event)) {
      if (one.type === 'audio-append') this.meter.hear(one.audio.length, upstream.audio.input)
      upstream.send(one)
    }
  }

  /** Cancels a response once the events that began it have been written, because the upstream may end it at once. */
  protected override cancel(response: string): void {
    queueMicrotask(() => {
      if (this.responses.isRunning(response)) this.options.upstream.send({ type: 'response-cancel', response })
    })
  }

  /** Replaces the upstream's model name, and removes all information that identifies the upstream. */
  private publicEvent(event: ServerEvent): ServerEvent {
    const { model, publicError: shown } = this.options
    if (event.type === 'session-created' || event.type === 'session-updated') {
      const settings = withStatedDetection(event.settings)
      return { ...event, settings: { ...settings, ...this.withPublicTranscriptionModel(settings), model } }
    }
    if (event.type === 'error') {
      this.responses.refused(event.event)
      this.options.record.recordError(event.error)
      return { ...event, error: shown(event.error) }
    }
    if (event.type === 'input-transcript-failed') return { ...event, error: shown(event.error) }
    if (event.type === 'response-end' && event.error !== undefined) return { ...event, error: shown(event.error) }
    return event
  }

  /** Replaces the upstream's name for the transcription model with the caller's name. */
  private withPublicTranscriptionModel({ input }: VoiceSessionSettings): Pick<VoiceSessionSettings, 'input'> {
    const transcription = input?.transcription
    if (transcription?.model === undefined) return {}
    const model = this.options.models.publicName(transcription.model)
    return { input: { ...input, transcription: { ...transcription, model } } }
  }

  private write(event: ServerEvent): void {
    const { format, audio } = this.options
    for (const one of audio.outgoing(event)) for (const frame of format.write(one)) this.toCaller(frame)
  }

  protected override errorFrames(error: CanonicalError, event?: string): readonly string[] {
    return this.options.format.write({ type: 'error', error, ...(event === undefined ? {} : { event }) })
  }

  protected override release(): void {
    this.options.audio.close()
  }
}

/** Creates the error for an event with losses, for a key that refuses losses. */
export const refusal = (path: readonly (string | number)[], reason: string): CanonicalError => ({
  kind: 'cannot-express',
  code: 'cannot_express',
  param: path.join('.'),
  message: `'${path.join('.')}' has no equivalent at the upstream (${reason}), and this key refuses losses.`,
})
