import type { ReasoningPart } from '../../canonical/content.ts'
import { type WrappedReasoning, wrapReasoning } from '../../canonical/signature.ts'
import { FORMAT } from './fields.ts'

/**
 * Collects reasoning for the `thoughtSignature` of the next part. Google's own signatures are written unchanged. Other
 * issuers' reasoning is wrapped together with its text, because clients discard reasoning parts but return signatures
 * (traps 91, 92).
 */
export class PendingSignatures {
  private reasoning: WrappedReasoning[] = []
  /** True if the answer comes from an upstream of this format. Its unsigned reasoning does not need to be wrapped. */
  private readonly isNative: boolean

  constructor(isNative: boolean) {
    this.isNative = isNative
  }

  get isEmpty(): boolean {
    return this.reasoning.length === 0
  }

  /**
   * True if reasoning with text must not be added next. In a wrapped signature, reasoning with text precedes signatures
   * without text.
   */
  get isFull(): boolean {
    return this.reasoning.length > 0 && this.reasoning.at(-1)!.text === undefined
  }

  add({ text, signature, redacted }: ReasoningPart): void {
    if (signature === undefined && (text === '' || (this.isNative && this.isEmpty))) return
    const isNativeSignature = signature?.format === FORMAT
    this.reasoning.push({
      ...(text === '' ? {} : { text }),
      ...(signature === undefined ? {} : { signature }),
      ...(redacted === undefined || signature === undefined || isNativeSignature ? {} : { redacted }),
    })
  }

  /** Returns the value for `thoughtSignature` and clears it. */
  take(): string | undefined {
    if (this.reasoning.length === 0) return undefined
    const { reasoning } = this
    this.reasoning = []
    const [{ signature }] = reasoning as [WrappedReasoning]
    const isNativeAlone = this.isNative && reasoning.length === 1 && signature?.format === FORMAT
    return isNativeAlone ? signature.value : wrapReasoning(reasoning, FORMAT)
  }
}
