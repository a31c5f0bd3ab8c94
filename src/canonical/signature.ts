import type { Part, ReasoningPart, Signature } from './content.ts'
import { type Format, isObject, parseJson } from './node.ts'

/*
 * A caller's format has one field for signatures of reasoning, and clients return its value unchanged. A signature of
 * another format is wrapped in a value that names its format, so that the issuer gets it back on the next turn (traps
 * 26-33). If clients return nothing but this field, the wrapper also holds the text of the reasoning, signed or not
 * (traps 91, 92). The wrapper is plain base64, for clients that decode the field as bytes: `il:<format>:<signature>`
 * for a single signature, `il:` and a JSON list for more. It is never sent to an upstream.
 */

/** The fields of a reasoning part that a wrapper can hold. */
export type EnclosedThought = Partial<Pick<ReasoningPart, 'text' | 'signature' | 'redacted'>>

const MARK = 'il:'
const MARK_ENCODED = 'aWw6'
const PROOF_ALONE = /^il:([a-z0-9-]+):(.*)$/s
const FORMAT_NAME = /^[a-z0-9-]{1,32}$/
/** Earlier versions of the gateway wrote these instead of a format's name, for unsigned and for redacted reasoning. */
const UNSIGNED = 'unsigned'
const HIDDEN = 'redacted'
/** Most reasoning parts read from one wrapper. More than any turn has; callers control the length. */
const MOST_THOUGHTS = 256

/** Returns the value of a format's signature field: a signature of that format unchanged, anything else wrapped. */
export function enclose(thoughts: readonly EnclosedThought[], own: Format): string {
  const [first] = thoughts
  if (first !== undefined && thoughts.length === 1 && first.signature !== undefined && isProofAlone(first)) {
    const { format, value } = first.signature
    return format === own ? value : encoded(`${format}:${value}`)
  }
  return encoded(JSON.stringify(thoughts.map(listed)))
}

/**
 * Reads a format's signature field. A value that is not a wrapper is one signature of that format. A damaged wrapper
 * holds nothing; neither a wrapper nor a wrapper inside it is ever taken for a signature.
 */
export function disclose(value: string, own: Format): readonly EnclosedThought[] {
  if (!isEnvelope(value)) return [{ signature: { format: own, value } }]
  const content = Buffer.from(value, 'base64').toString()
  const alone = PROOF_ALONE.exec(content)
  if (alone !== null) return legacy(alone[1]!, alone[2]!)
  return listIn(content.slice(MARK.length)).flatMap(thought => readListed(thought) ?? [])
}

/** Whether the gateway wrote the value, so that it is a wrapper. */
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

/** Reads one entry of a wrapper; undefined if it has neither text nor signature. */
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

/** Prefix of encrypted state that a client stores for the gateway. The digit is the version of the encryption. */
export const SEAL = 'il1.'

/** Whether the value is state that the gateway encrypted. */
export const isSealed = (value: unknown): value is string => typeof value === 'string' && value.startsWith(SEAL)

/** Whether the part is reasoning with text and nothing else. */
export const isUnsigned = (part: Part | undefined): part is ReasoningPart =>
  part?.type === 'reasoning' && part.text !== '' && hasTextAlone(part) && part.signature === undefined

/** Whether the part is signed reasoning, with or without text. */
export const isSigned = (part: Part): boolean => part.type === 'reasoning' && part.signature !== undefined

/** Whether the part is a signature without text, which belongs to the reasoning before it or to the part after it. */
export const isLoneProof = (
  part: Part | undefined,
): part is ReasoningPart & Required<Pick<ReasoningPart, 'signature'>> =>
  part?.type === 'reasoning' && part.text === '' && hasTextAlone(part) && part.signature !== undefined

const hasTextAlone = ({ redacted, cache, extras }: ReasoningPart): boolean =>
  redacted === undefined && cache === undefined && extras === undefined
