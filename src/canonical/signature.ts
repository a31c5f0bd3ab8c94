import type { Signature } from './content.ts'
import type { Format } from './node.ts'

/*
 * A caller's format has one slot for proofs of reasoning, and hands back what it was given. A proof of another issuer
 * travels in it inside an envelope that says whose it is, so that it finds its issuer again on the next turn (traps
 * 26-33). The envelope is plain base64, for clients that decode the slot as bytes. It never reaches an upstream.
 */

const MARK = 'il:'
const MARK_ENCODED = 'aWw6'
const ENVELOPE = /^il:([a-z0-9-]+):(.*)$/s

/** What to put in the slot of `own` format. */
export function enclose(signature: Signature, own: Format): string {
  if (signature.format === own) return signature.value
  return Buffer.from(`${MARK}${signature.format}:${signature.value}`).toString('base64')
}

/** Whose proof is in the slot of `own` format; anything but an envelope is its own. */
export function disclose(value: string, own: Format): Signature {
  if (value.startsWith(MARK_ENCODED)) {
    const match = ENVELOPE.exec(Buffer.from(value, 'base64').toString())
    if (match !== null) return { format: match[1]!, value: match[2]! }
  }
  return { format: own, value }
}
