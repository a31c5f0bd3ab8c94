import { bytesPerSecond, PCM_24K } from '../../canonical/voice-session.ts'

const BYTES_PER_MS = bytesPerSecond(PCM_24K) / 1000
/** Assumed speaking rate until the first sentence is complete, in characters per millisecond. */
const DEFAULT_CHARACTERS_PER_MS = 0.015

interface Sentence {
  readonly text: string
  ms: number
  done: boolean
}

/** Sentences of a spoken item and their durations. Converts a position in the audio to a position in the text. */
export class Playback {
  private readonly sentences: Sentence[] = []
  private limit = Number.POSITIVE_INFINITY

  /** Starts a sentence, to which the following audio belongs. */
  startSentence(text: string): void {
    this.sentences.push({ text, ms: 0, done: false })
  }

  /** Adds `bytes` of PCM16 at 24 kHz that were sent for the current sentence. */
  sent(bytes: number): void {
    const last = this.sentences.at(-1)
    if (last !== undefined) last.ms += bytes / BYTES_PER_MS
  }

  /** Marks the current sentence as complete. */
  end(): void {
    const last = this.sentences.at(-1)
    if (last !== undefined) last.done = true
  }

  /** Truncates the item to the milliseconds that were played. */
  truncate(ms: number): void {
    this.limit = Math.min(this.limit, ms)
  }

  /** Text whose audio was sent, up to the truncation. */
  get text(): string {
    let remaining = this.limit
    let text = ''
    for (const sentence of this.sentences) {
      const isWhole = sentence.done && sentence.ms <= remaining
      text += isWhole
        ? sentence.text
        : cutAtWord(sentence.text, Math.min(remaining, sentence.ms) / this.duration(sentence))
      if (!isWhole) return text
      remaining -= sentence.ms
    }
    return text
  }

  /** Returns the duration of a sentence, in milliseconds. The duration is estimated until the audio is complete. */
  private duration({ text, ms, done }: Sentence): number {
    return done ? ms : Math.max(ms, text.length / this.pace)
  }

  /** Speaking rate of the completed sentences, in characters per millisecond. */
  private get pace(): number {
    let [letters, ms] = [0, 0]
    for (const sentence of this.sentences)
      if (sentence.done) {
        letters += sentence.text.length
        ms += sentence.ms
      }
    return letters > 0 && ms > 0 ? letters / ms : DEFAULT_CHARACTERS_PER_MS
  }
}

/** Cuts a text after the last whole word within the given fraction of its length. */
function cutAtWord(text: string, part: number): string {
  if (part >= 1) return text
  const end = Math.floor(text.length * Math.max(0, part || 0))
  return /\s/.test(text[end] ?? '') ? text.slice(0, end) : (/^.*\s/s.exec(text.slice(0, end))?.[0].trimEnd() ?? '')
}
