import type { Usage } from '../canonical/result.ts'
import { type AudioFormat, bytesPerSecond } from '../canonical/voice-session.ts'
import { isCounted } from '../store/usage/row.ts'

/* Tokens of audio and text, as OpenAI counts them (docs/wire/realtime.md#responses). */

const INPUT_TOKENS_PER_SECOND = 10
const OUTPUT_TOKENS_PER_SECOND = 20
const CHARACTERS_PER_TOKEN = 4

/**
 * Measures what was said since the last usage report of an upstream, so that a response whose report never arrives can
 * be estimated. Callers that hang up in the middle of a response are the usual reason.
 */
export class UsageMeter {
  /** Tokens of the conversation at the last report, which are also in the prompt of the next response. */
  private conversation = 0
  /** Seconds of audio from the caller and from the upstream. */
  private heard = 0
  private spoken = 0
  /** Number of characters from the upstream: texts, transcripts and arguments. */
  private written = 0

  /** Counts audio of the caller. `bytes` need not be whole. */
  hear(bytes: number, format: AudioFormat): void {
    this.heard += bytes / bytesPerSecond(format)
  }

  /** Counts audio of the upstream. */
  speak(bytes: number, format: AudioFormat): void {
    this.spoken += bytes / bytesPerSecond(format)
  }

  /** Counts text of the upstream. */
  write(characters: number): void {
    this.written += characters
  }

  /**
   * Returns true if a report counts what was said. Some servers that do not count state zero tokens instead of none, and
   * a mistake of an upstream may be any number.
   */
  counts(usage: Usage): boolean {
    const isEmpty = usage.output === 0 && (this.spoken > 0 || this.written > 0)
    return isCounted(usage) && !isEmpty
  }

  /** Starts again after a usage report. */
  report({ input = 0, output = 0 }: Usage): void {
    this.conversation = input + output
    this.heard = this.spoken = this.written = 0
  }

  /** Usage since the last report, or undefined if the upstream generated nothing since. */
  get estimate(): Usage | undefined {
    if (this.spoken === 0 && this.written === 0) return undefined
    const heard = Math.ceil(this.heard * INPUT_TOKENS_PER_SECOND)
    const spoken = Math.ceil(this.spoken * OUTPUT_TOKENS_PER_SECOND)
    return {
      input: this.conversation + heard,
      output: Math.ceil(this.written / CHARACTERS_PER_TOKEN) + spoken,
      inputBy: { audio: heard },
      outputBy: { audio: spoken },
    }
  }
}
