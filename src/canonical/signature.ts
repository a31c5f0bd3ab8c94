import { decodeBase64Text, encodeBase64Text } from './base64.ts'
import type { Part, ReasoningPart, Signature } from './content.ts'
import { type Format, isObject, parseJson } from './node.ts'

/*
 * A caller's format has one field for reasoning signatures, and clients return its value unchanged. A signature of
 * another format is wrapped in a value that names its format, so that the issuer gets it back in the next turn (traps
 * 26-33). If clients return only this field, the wrapper also holds the reasoning text, signed or not (traps 91, 92).
 * The wrapper is plain base64, for clients that decode the field as bytes: `il:<format>:<signature>` for a single
 * signature, `il:` and a JSON list for several. Wrappers are never sent to an upstream.
 */

/** Fields of a reasoning part that a wrapper can hold. */
export type WrappedReasoning = Partial<Pick<ReasoningPart, 'text' | 'signature' | 'redacted'>>

const WRAPPER_MARK = 'il:'
const ENCODED_MARK = 'aWw6'
const SINGLE_SIGNATURE = /^il:([a-z0-9-]+):(.*)$/s
const FORMAT_NAME = /^[a-z0-9-]{1,32}$/
/** Word that earlier versions wrote instead of a format name, for unsigned reasoning. */
const UNSIGNED = 'unsigned'
/** Word that earlier versions wrote instead of a format name, for redacted reasoning. */
const REDACTED = 'redacted'
/**
 * Maximum number of reasoning parts read from one wrapper, because callers control its length. More than any turn has.
 */
const MAX_ENTRIES = 256

/** Returns the value of a format's signature field. Signatures of that format are unchanged, all others are wrapped. */
export function wrapReasoning(parts: readonly WrappedReasoning[], fieldFormat: Format): string {
  const [first] = parts
  if (first !== undefined && parts.length === 1 && first.signature !== undefined && isSignatureAlone(first)) {
    const { format, value } = first.signature
    return format === fieldFormat ? value : encodedWrapper(`${format}:${value}`)
  }
  return encodedWrapper(JSON.stringify(parts.map(entryOf)))
}

/**
 * Reads a format's signature field. A value that is not a wrapper is a single signature of that format. A damaged
 * wrapper gives nothing. A wrapper, even inside another wrapper, is never treated as a signature.
 */
export function unwrapReasoning(value: string, fieldFormat: Format): readonly WrappedReasoning[] {
  if (!isWrappedReasoning(value)) return [{ signature: { format: fieldFormat, value } }]
  const content = decodeBase64Text(value)
  const singleSignature = SINGLE_SIGNATURE.exec(content)
  if (singleSignature !== null) return readEarlierVersion(singleSignature[1]!, singleSignature[2]!)
  return listIn(content.slice(WRAPPER_MARK.length)).flatMap(entry => readEntry(entry) ?? [])
}

/** Returns true if the value is the gateway's wrapper. */
export const isWrappedReasoning = (value: string): boolean => value.startsWith(ENCODED_MARK)

const encodedWrapper = (content: string): string => encodeBase64Text(WRAPPER_MARK + content)

const isSignatureAlone = ({ text = '', redacted }: WrappedReasoning): boolean => text === '' && redacted === undefined

const entryOf = ({ text = '', signature, redacted }: WrappedReasoning) => ({
  ...(text === '' ? {} : { text }),
  ...signature,
  ...(redacted === undefined ? {} : { redacted }),
})

function readEarlierVersion(format: string, value: string): readonly WrappedReasoning[] {
  if (format === UNSIGNED) return []
  if (format === REDACTED) return unwrapReasoning(value, REDACTED).map(entry => ({ ...entry, redacted: true }))
  return isWrappedReasoning(value) ? [] : [{ signature: { format, value } }]
}

function listIn(text: string): readonly unknown[] {
  const list = parseJson(text)
  return Array.isArray(list) ? list.slice(0, MAX_ENTRIES) : []
}

/** Reads one entry of a wrapper. Returns undefined if it has neither text nor signature. */
function readEntry(entry: unknown): WrappedReasoning | undefined {
  if (!isObject(entry)) return undefined
  const { text, redacted } = entry
  const signature = signatureIn(entry)
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
  return FORMAT_NAME.test(format) && !isWrappedReasoning(value) ? { format, value } : undefined
}

/** Value that Google's clients send in place of a signature. Google's servers accept it (trap 31). */
export const SKIP_SIGNATURE = 'skip_thought_signature_validator'

/** Spellings of absent signatures: an empty one, that value in plain text and in base64, and its earlier word. */
const SKIP_SIGNATURES = new Set([
  ...['', SKIP_SIGNATURE, 'c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I='],
  'context_engineering_is_the_way_to_go',
])

/** Returns true if a signature of Google's formats counts as absent (trap 31). */
export const isSkipSignature = (value: string): boolean => SKIP_SIGNATURES.has(value)

/** Prefix of encrypted state that a client stores for the gateway. The digit is the encryption version. */
export const ENCRYPTED_PREFIX = 'il1.'

/** Returns true if the value is state encrypted by the gateway. */
export const isEncrypted = (value: unknown): value is string =>
  typeof value === 'string' && value.startsWith(ENCRYPTED_PREFIX)

/** Returns true if the part is reasoning with only text: no signature and no other field. */
export const isUnsigned = (part: Part | undefined): part is ReasoningPart =>
  part?.type === 'reasoning' && part.text !== '' && hasTextAlone(part) && part.signature === undefined

/** Returns true if the part is signed reasoning, with or without text. */
export const isSigned = (part: Part): boolean => part.type === 'reasoning' && part.signature !== undefined

/**
 * Returns true if the part is a signature without text. It belongs to the reasoning before it or to the part after it.
 */
export const isLoneSignature = (
  part: Part | undefined,
): part is ReasoningPart & Required<Pick<ReasoningPart, 'signature'>> =>
  part?.type === 'reasoning' && part.text === '' && hasTextAlone(part) && part.signature !== undefined

const hasTextAlone = ({ redacted, cache, extras }: ReasoningPart): boolean =>
  redacted === undefined && cache === undefined && extras === undefined
