import type { ReasoningPart } from '../../canonical/content.ts'
import { type EnclosedThought, enclose } from '../../canonical/signature.ts'
import { FORMAT } from './fields.ts'

/**
 * Collects the thoughts for the slot of the next part: Google's own proof as it is, thoughts of other issuers whole,
 * with their text, since clients strip thought parts and return the slot (traps 91, 92).
 */
export class Slotted {
  private thoughts: EnclosedThought[] = []
  /** The answer comes from an upstream of this same format, whose unsigned thoughts need no slot. */
  private readonly own: boolean

  constructor(own: boolean) {
    this.own = own
  }

  get empty(): boolean {
    return this.thoughts.length === 0
  }

  /** Whether a thought with text may not come next: in an envelope those come before proofs without text. */
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

  /** Takes the value for the slot and empties it. */
  take(): string | undefined {
    if (this.thoughts.length === 0) return undefined
    const { thoughts } = this
    this.thoughts = []
    const [{ signature }] = thoughts as [EnclosedThought]
    const isNative = this.own && thoughts.length === 1 && signature?.format === FORMAT
    return isNative ? signature.value : enclose(thoughts, FORMAT)
  }
}
