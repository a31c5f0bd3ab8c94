import type { ReasoningPart } from '../../canonical/content.ts'
import { type EnclosedThought, enclose } from '../../canonical/signature.ts'
import { FORMAT } from './fields.ts'

/**
 * What is to stand in the slot of the next part: Google's own proof as it is, and the thoughts of anybody else whole,
 * with their text, since clients strip the parts of thoughts and hand back the slot (traps 91, 92).
 */
export class Slotted {
  private thoughts: EnclosedThought[] = []
  /** The answer comes from an upstream of this very format, whose unsigned thoughts need no slot. */
  private readonly own: boolean

  constructor(own: boolean) {
    this.own = own
  }

  get empty(): boolean {
    return this.thoughts.length === 0
  }

  /** Whether a thought with words may not come next: those of an envelope come before the proofs without. */
  get full(): boolean {
    return this.thoughts.length > 0 && this.thoughts.at(-1)!.text === undefined
  }

  add({ text, signature, redacted }: ReasoningPart): void {
    if (signature === undefined && (text === '' || (this.own && this.empty))) return
    const isOwn = signature?.format === FORMAT
    this.thoughts.push({
      ...(text === '' ? {} : { text }),
      ...(signature === undefined ? {} : { signature }),
      ...(redacted === undefined || signature === undefined || isOwn ? {} : { redacted }),
    })
  }

  /** What the slot holds, which is empty then. */
  take(): string | undefined {
    if (this.thoughts.length === 0) return undefined
    const { thoughts } = this
    this.thoughts = []
    const [{ signature }] = thoughts as [EnclosedThought]
    const isNative = this.own && thoughts.length === 1 && signature?.format === FORMAT
    return isNative ? signature.value : enclose(thoughts, FORMAT)
  }
}
