import type { ReasoningPart, Signature } from './content.ts'
import { type Format, isObject } from './node.ts'

/*
 * A caller's format has one slot for proofs of reasoning, and hands back what it was given. A proof of another issuer
 * travels in it inside an envelope that says whose it is, so that it finds its issuer again on the next turn (traps
 * 26-33). Where clients hand back nothing but the slot, the envelope holds the thought's text as well, and a thought
 * that nobody signed travels in one of its own (traps 91, 92). The envelope is plain base64, for clients that decode
 * the slot as bytes: of `il:<format>:<proof>` for a proof alone, of `il:` and a JSON list of thoughts for more. It never
 * reaches an upstream.
 */

/** What a slot holds of a thought. */
export type EnclosedThought = Partial<Pick<ReasoningPart, 'text' | 'signature' | 'redacted'>>

const MARK = 'il:'
const MARK_ENCODED = 'aWw6'
const PROOF_ALONE = /^il:([a-z0-9-]+):(.*)$/s
const FORMAT_NAME = /^[a-z0-9-]{1,32}$/
/** Names in the place of a format's, in envelopes of earlier versions: a thought nobody signed, and a hidden one. */
const UNSIGNED = 'unsigned'
const HIDDEN = 'redacted'
/** More than any turn has thoughts; a caller may write anything. */
const MOST_THOUGHTS = 256

/** What to put in the slot of `own` format: its own proof as it is, anything else in an envelope. */
export function enclose(thoughts: readonly EnclosedThought[], own: Format): string {
  const [first] = thoughts
  if (first !== undefined && thoughts.length === 1 && first.signature !== undefined && isProofAlone(first)) {
    const { format, value } = first.signature
    return format === own ? value : encoded(`${format}:${value}`)
  }
  return encoded(JSON.stringify(thoughts.map(listed)))
}

/**
 * The thoughts in the slot of `own` format; anything but an envelope is one proof of its own. A damaged envelope holds
 * none, and neither it nor one inside it is ever taken for a proof.
 */
export function disclose(value: string, own: Format): readonly EnclosedThought[] {
  if (!isEnvelope(value)) return [{ signature: { format: own, value } }]
  const said = Buffer.from(value, 'base64').toString()
  const alone = PROOF_ALONE.exec(said)
  if (alone !== null) return legacy(alone[1]!, alone[2]!)
  return listIn(said.slice(MARK.length)).flatMap(thought => readListed(thought) ?? [])
}

/** Whether the gateway itself filled the slot. */
export const isEnvelope = (value: string): boolean => value.startsWith(MARK_ENCODED)

const encoded = (said: string): string => Buffer.from(MARK + said).toString('base64')

const isProofAlone = ({ text = '', redacted }: EnclosedThought): boolean => text === '' && redacted === undefined

const listed = ({ text = '', signature, redacted }: EnclosedThought) => ({
  ...(text === '' ? {} : { text }),
  ...signature,
  ...(redacted === undefined ? {} : { redacted }),
})

function legacy(format: string, value: string): readonly EnclosedThought[] {
  if (format === UNSIGNED) return []
  if (format === HIDDEN) return disclose(value, HIDDEN).map(thought => ({ ...thought, redacted: true }))
  return isEnvelope(value) ? [] : [{ signature: { format, value } }]
}

function listIn(text: string): readonly unknown[] {
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) ? list.slice(0, MOST_THOUGHTS) : []
  } catch {
    return []
  }
}

/** Undefined for what says nothing. */
function readListed(thought: unknown): EnclosedThought | undefined {
  if (!isObject(thought)) return undefined
  const { text, redacted } = thought
  const signature = signatureIn(thought)
  const hasText = typeof text === 'string' && text !== ''
  if (!hasText && signature === undefined) return undefined
  return {
    ...(hasText ? { text } : {}),
    ...(signature === undefined ? {} : { signature }),
    ...(redacted === true ? { redacted } : {}),
  }
}

function signatureIn({ format, value }: { readonly [field: string]: unknown }): Signature | undefined {
  if (typeof format !== 'string' || typeof value !== 'string') return undefined
  return FORMAT_NAME.test(format) && !isEnvelope(value) ? { format, value } : undefined
}
