import { bytesPerSecond, PCM_24K } from '../../canonical/session.ts'

const BYTES_PER_MS = bytesPerSecond(PCM_24K) / 1000
/** Of a voice whose pace is not known yet. */
const USUAL_LETTERS_PER_MS = 0.015

interface Sentence {
  readonly text: string
  ms: number
  done: boolean
}

/** Text and duration of an item's audio, sentence by sentence: maps a position in the audio to one in the text. */
export class Playback {
  private readonly sentences: Sentence[] = []
  private limit = Number.POSITIVE_INFINITY

  /** The audio that comes next speaks this text. */
  begin(text: string): void {
    this.sentences.push({ text, ms: 0, done: false })
  }

  /** Bytes of PCM16 at 24 kHz were sent. */
  sent(bytes: number): void {
    const last = this.sentences.at(-1)
    if (last !== undefined) last.ms += bytes / BYTES_PER_MS
  }

  /** The sentence is spoken. */
  end(): void {
    const last = this.sentences.at(-1)
    if (last !== undefined) last.done = true
  }

  /** No more than that was played. */
  truncate(ms: number): void {
    this.limit = Math.min(this.limit, ms)
  }

  /** The text whose audio was sent, up to where it was truncated. */
  get text(): string {
    let left = this.limit
    let text = ''
    for (const sentence of this.sentences) {
      const whole = sentence.done && sentence.ms <= left
      text += whole ? sentence.text : cut(sentence.text, Math.min(left, sentence.ms) / this.duration(sentence))
      if (!whole) return text
      left -= sentence.ms
    }
    return text
  }

  /** Milliseconds of a sentence, estimated while it is being spoken. */
  private duration({ text, ms, done }: Sentence): number {
    return done ? ms : Math.max(ms, text.length / this.pace)
  }

  /** Letters in a millisecond, by the sentences that are spoken. */
  private get pace(): number {
    let [letters, ms] = [0, 0]
    for (const sentence of this.sentences)
      if (sentence.done) {
        letters += sentence.text.length
        ms += sentence.ms
      }
    return letters > 0 && ms > 0 ? letters / ms : USUAL_LETTERS_PER_MS
  }
}

/** The words that end within this part of a text. */
function cut(text: string, part: number): string {
  if (part >= 1) return text
  const end = Math.floor(text.length * Math.max(0, part || 0))
  return /\s/.test(text[end] ?? '') ? text.slice(0, end) : (/^.*\s/s.exec(text.slice(0, end))?.[0].trimEnd() ?? '')
}
