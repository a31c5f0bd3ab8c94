import type { Part, ReasoningPart, Signature } from './content.ts'
import { type Format, isObject, parseJson } from './node.ts'

/*
 * A caller's format has one slot for proofs of reasoning and returns what it was given. A proof of another issuer
 * travels in it inside an envelope that names the issuer, so that it reaches its issuer again on the next turn (traps
 * 26-33). Where clients return nothing but the slot, the envelope holds the thought's text as well, and an unsigned
 * thought travels in an envelope without a proof (traps 91, 92). The envelope is plain base64, for clients that decode
 * the slot as bytes: of `il:<format>:<proof>` for a single proof, of `il:` and a JSON list of thoughts for more. It
 * never reaches an upstream.
 */

/** The fields of a thought that a slot holds. */
export type EnclosedThought = Partial<Pick<ReasoningPart, 'text' | 'signature' | 'redacted'>>

const MARK = 'il:'
const MARK_ENCODED = 'aWw6'
const PROOF_ALONE = /^il:([a-z0-9-]+):(.*)$/s
const FORMAT_NAME = /^[a-z0-9-]{1,32}$/
/** Used in place of a format's name in envelopes of earlier versions: an unsigned thought, and a redacted one. */
const UNSIGNED = 'unsigned'
const HIDDEN = 'redacted'
/** More thoughts than any turn has; callers control the length. */
const MOST_THOUGHTS = 256

/** The value for the slot of `own` format: its own proof unchanged, anything else in an envelope. */
export function enclose(thoughts: readonly EnclosedThought[], own: Format): string {
  const [first] = thoughts
  if (first !== undefined && thoughts.length === 1 && first.signature !== undefined && isProofAlone(first)) {
    const { format, value } = first.signature
    return format === own ? value : encoded(`${format}:${value}`)
  }
  return encoded(JSON.stringify(thoughts.map(listed)))
}

/**
 * The thoughts in the slot of `own` format; anything but an envelope is one proof of that format. A damaged envelope
 * holds none, and neither it nor an envelope inside it is ever taken for a proof.
 */
export function disclose(value: string, own: Format): readonly EnclosedThought[] {
  if (!isEnvelope(value)) return [{ signature: { format: own, value } }]
  const content = Buffer.from(value, 'base64').toString()
  const alone = PROOF_ALONE.exec(content)
  if (alone !== null) return legacy(alone[1]!, alone[2]!)
  return listIn(content.slice(MARK.length)).flatMap(thought => readListed(thought) ?? [])
}

/** Whether the gateway itself filled the slot. */
export const isEnvelope = (value: string): boolean => value.startsWith(MARK_ENCODED)

const encoded = (content: string): string => Buffer.from(MARK + content).toString('base64')

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
  const list = parseJson(text)
  return Array.isArray(list) ? list.slice(0, MOST_THOUGHTS) : []
}

/** Undefined for an entry without text and signature. */
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

/**
 * The prefix of encrypted values that a caller keeps for the gateway, by which the gateway recognizes them when they
 * are returned. The digit is the version of the encryption.
 */
export const SEAL = 'il1.'

export const isSealed = (value: unknown): value is string => typeof value === 'string' && value.startsWith(SEAL)

/** Whether the thought has text and nothing else. */
export const isUnsigned = (part: Part | undefined): part is ReasoningPart =>
  part?.type === 'reasoning' && part.text !== '' && hasTextAlone(part) && part.signature === undefined

/** Whether the part is a thought with a proof, with or without text. */
export const isSigned = (part: Part): boolean => part.type === 'reasoning' && part.signature !== undefined

/** Whether the part is a proof without text: of the thought before it, or of the part after it. */
export const isLoneProof = (
  part: Part | undefined,
): part is ReasoningPart & Required<Pick<ReasoningPart, 'signature'>> =>
  part?.type === 'reasoning' && part.text === '' && hasTextAlone(part) && part.signature !== undefined

const hasTextAlone = ({ redacted, cache, extras }: ReasoningPart): boolean =>
  redacted === undefined && cache === undefined && extras === undefined
