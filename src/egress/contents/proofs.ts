import type { ReasoningPart } from '../../canonical/content.ts'
import { type EnclosedThought, enclose } from '../../canonical/signature.ts'
import { FORMAT } from './fields.ts'

/**
 * Collects reasoning for the `thoughtSignature` of the next part. Google's own signature is written as it is; reasoning
 * of other issuers is wrapped whole, with its text, because clients strip reasoning parts but return signatures (traps
 * 91, 92).
 */
export class Slotted {
  private thoughts: EnclosedThought[] = []
  /** Whether the answer comes from an upstream of this format, whose unsigned reasoning need not be wrapped. */
  private readonly own: boolean

  constructor(own: boolean) {
    this.own = own
  }

  get empty(): boolean {
    return this.thoughts.length === 0
  }

  /**
   * Whether reasoning with text must not come next: in a wrapped signature it stands before signatures without text.
   */
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

  /** Returns the value for `thoughtSignature` and clears it. */
  take(): string | undefined {
    if (this.thoughts.length === 0) return undefined
    const { thoughts } = this
    this.thoughts = []
    const [{ signature }] = thoughts as [EnclosedThought]
    const isNative = this.own && thoughts.length === 1 && signature?.format === FORMAT
    return isNative ? signature.value : enclose(thoughts, FORMAT)
  }
}
