import type { CanonicalEvent } from '../../canonical/event.ts'
import type { Usage } from '../../canonical/result.ts'
import { Gate } from './gate.ts'
import { type SpeechSettings, speechRequest } from './requests.ts'
import { type RunOptions, runRequest, waitForGate } from './run.ts'
import { SentenceAudio } from './sentence-audio.ts'
import { isSpeakable, Sentences } from './sentences.ts'
import { spokenText } from './spoken-text.ts'

export interface SpeakerOptions extends RunOptions {
  readonly model: string
  readonly settings: SpeechSettings
  readonly listener: SpeakerListener
  /** Speech of the message before, which is played first. */
  readonly after: Promise<void> | undefined
}

export interface SpeakerListener {
  /** Called with the text of each sentence before its audio. */
  sentence(text: string): void
  /** Called with PCM16 at 24 kHz, in whole samples. */
  audio(bytes: Uint8Array): void
  spoken(): void
  usage(usage: Usage): void
}

/**
 * Maximum amount of a sentence's audio that is generated before its turn, in bytes. Beyond this limit, the request is
 * paused.
 */
const MAX_AHEAD_BYTES = 512 * 1024

/**
 * Speaks a text stream sentence by sentence. The next sentence is requested while the current one is still arriving.
 */
export class Speaker {
  private readonly options: SpeakerOptions
  private readonly sentences = new Sentences()
  private readonly waiting: string[] = []
  private readonly running: Utterance[] = []
  private readonly done = Promise.withResolvers<void>()
  private ended = false
  /** False while the message before is still being spoken. */
  private mayPlay: boolean

  constructor(options: SpeakerOptions) {
    this.options = options
    this.mayPlay = options.after === undefined
    options.after?.then(
      () => this.begin(),
      () => {},
    )
    options.signal.addEventListener('abort', () => this.done.resolve(), { once: true })
    this.done.promise.catch(() => {})
  }

  push(text: string): void {
    for (const sentence of this.sentences.push(text)) this.waiting.push(sentence)
    this.advance()
  }

  /**
   * Resolves when the whole text has been spoken. Rejects with the GatewayError of a sentence that failed, once the
   * sentence before it has been spoken.
   */
  end(): Promise<void> {
    const rest = this.sentences.flush()
    if (rest !== '') this.waiting.push(rest)
    this.ended = true
    this.advance()
    return this.done.promise
  }

  /** Promise that rejects as soon as a sentence fails, even before `end`. */
  get failed(): Promise<void> {
    return this.done.promise
  }

  private advance(): void {
    const { signal } = this.options
    const mayRequest = this.running.every(({ failure }) => failure === undefined)
    while (mayRequest && this.running.length < 2 && this.waiting.length > 0 && !signal.aborted) {
      const utterance = new Utterance(this.waiting.shift()!, this.options)
      this.running.push(utterance)
      if (this.running.length === 1 && this.mayPlay) utterance.play()
      utterance.run().then(
        () => this.finished(),
        thrown => {
          utterance.failure = thrown
          this.finished()
        },
      )
    }
    if (this.ended && this.running.length === 0) this.done.resolve()
  }

  /** Plays the first sentence, which may have waited for the message before. */
  private begin(): void {
    this.mayPlay = true
    if (this.options.signal.aborted) return
    this.running[0]?.play()
    this.finished()
  }

  /** Removes completed sentences from the front, and plays the next one. */
  private finished(): void {
    const { signal, listener } = this.options
    while (this.mayPlay && this.running[0]?.isOver === true && !signal.aborted) {
      this.running.shift()
      listener.spoken()
      this.running[0]?.play()
    }
    const first = this.running[0]
    if (this.mayPlay && first?.failure !== undefined) this.done.reject(first.failure)
    else if (!signal.aborted) this.advance()
  }
}

/** Speech of one sentence. Its audio is buffered until the previous sentence is complete. */
class Utterance {
  isOver = false
  /** The error with which the request failed. */
  failure: unknown
  private readonly text: string
  private readonly options: SpeakerOptions
  /** Closed while enough audio is buffered. */
  private readonly backpressure = new Gate()
  private pieces: Uint8Array[] = []
  private size = 0
  private playing = false
  private recording: SentenceAudio | undefined

  constructor(text: string, options: SpeakerOptions) {
    this.text = text
    this.options = options
  }

  async run(): Promise<void> {
    const { model, settings, listener } = this.options
    const words = spokenText(this.text)
    let usage: Usage | undefined
    if (isSpeakable(words))
      await runRequest(speechRequest(model, words, settings), this.options, event => {
        if (event.type === 'usage') usage = event.usage
        else this.take(event)
        return this.backpressure.opened === undefined ? undefined : waitForGate(this.backpressure, this.options.signal)
      })
    if (this.options.signal.aborted) return
    if (this.recording !== undefined) this.add(this.recording.flush())
    if (usage !== undefined) listener.usage(usage)
    this.isOver = true
  }

  /** Starts playback, once the previous sentence is complete. */
  play(): void {
    this.playing = true
    this.options.listener.sentence(this.text)
    for (const piece of this.pieces) if (!this.options.signal.aborted) this.options.listener.audio(piece)
    this.pieces = []
    this.backpressure.open()
  }

  private take(event: CanonicalEvent): void {
    if (event.type === 'part-start' && event.part.type === 'media' && event.part.source.type === 'base64') {
      const { mediaType, data } = event.part.source
      this.recording ??= new SentenceAudio(mediaType)
      this.grow(data)
    } else if (event.type === 'part-delta' && event.of === undefined) this.grow(event.append)
  }

  private grow(base64: string): void {
    if (base64 !== '' && this.recording !== undefined) this.add(this.recording.push(Buffer.from(base64, 'base64')))
  }

  private add(audio: Uint8Array): void {
    if (audio.length === 0) return
    if (this.playing) {
      this.options.listener.audio(audio)
      return
    }
    this.pieces.push(audio)
    this.size += audio.length
    if (this.size > MAX_AHEAD_BYTES) this.backpressure.close()
  }
}
