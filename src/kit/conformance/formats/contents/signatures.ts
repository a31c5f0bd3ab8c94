import type { ReasoningFacts } from '../../facts.ts'
import { type JsonObject, textOf } from '../../json.ts'

/* Reasoning and its signature. The signature is on a later part. Source: docs/wire/contents.md#thinking */

/** Documented values that make the server skip its signature check. They are not real signatures. */
const SKIP_VALUES = new Set(['context_engineering_is_the_way_to_go', 'skip_thought_signature_validator'])

/** Returns the signature of a part, if it has a real one. */
export function signatureOf({ thoughtSignature }: JsonObject): string | undefined {
  const signature = textOf(thoughtSignature)
  return signature && !SKIP_VALUES.has(signature) ? signature : undefined
}

/**
 * Collects reasoning. Consecutive thought parts are joined. The signature of the following part belongs to the joined
 * parts.
 */
export class Reasoning {
  readonly list: { text?: string; signature?: string }[] = []
  private isOpen = false

  /** Adds a part. Returns true if the part contains nothing but reasoning. */
  take(part: JsonObject): boolean {
    const isThought = part['thought'] === true
    if (isThought) this.think(textOf(part['text']) ?? '')
    const signature = signatureOf(part)
    // The signature of a call belongs to the call.
    if (signature && part['functionCall'] === undefined) this.sign(signature)
    if (!isThought && part['text'] !== '') this.isOpen = false
    return isThought
  }

  get facts(): readonly ReasoningFacts[] {
    return this.list
  }

  private think(text: string): void {
    const last = this.list.at(-1)
    if (this.isOpen && last !== undefined) last.text = (last.text ?? '') + text
    else if (text !== '') this.list.push({ text })
    this.isOpen = true
  }

  private sign(signature: string): void {
    const last = this.list.at(-1)
    if (last === undefined || last.signature !== undefined) this.list.push({ signature })
    else last.signature = signature
  }
}
