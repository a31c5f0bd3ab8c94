import { CallIds } from '../../canonical/call-ids.ts'
import type { OpaquePart, Part, ReasoningPart } from '../../canonical/content.ts'
import { type JsonObject, stringIn, withWireSource } from '../../canonical/node.ts'
import {
  isSkipSignature,
  isWrappedReasoning,
  SKIP_SIGNATURE,
  unwrapReasoning,
  type WrappedReasoning,
} from '../../canonical/signature.ts'
import { anyText, defined, flag, object, text, WrongType, withDefined } from '../fields.ts'
import { readCall, readResponse } from './calls.ts'
import { contentsExtras, FORMAT, inCamelCase } from './fields.ts'
import { readMedia } from './media.ts'

/** Fields of a part that contain its data. */
const DATA: ReadonlySet<string> = new Set([
  ...['text', 'inlineData', 'fileData', 'functionCall', 'functionResponse'],
  ...['executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse'],
])

const KNOWN_FIELDS = new Set([...DATA, 'thought', 'thoughtSignature', 'mediaResolution'])

/**
 * Like `readPart`, but for answers. A part that is malformed or not allowed in answers becomes opaque. Code run by the
 * upstream is not part of the answer's text.
 */
export function readPartLeniently(wire: JsonObject, ids: CallIds): readonly Part[] {
  try {
    const read = readPart(wire, ids)
    return read.some(part => part.type === 'tool-result') ? [asOpaque(wire)] : read.map(withoutText)
  } catch (thrown) {
    if (thrown instanceof WrongType) return [asOpaque(wire)]
    throw thrown
  }
}

const asOpaque = (value: JsonObject): OpaquePart => ({ type: 'opaque', format: FORMAT, value })

function withoutText(part: Part): Part {
  if (part.type !== 'opaque' || part.text === undefined) return part
  const { text: _, ...others } = part
  return others
}

/**
 * Reads one part. If the part is signed, the result starts with a reasoning part that carries only the signature. If
 * the gateway wrapped the signature, the wrapped reasoning comes first instead. A signature without data remains a
 * separate part (traps 29, 31, 32, 102). A part of an unknown kind becomes opaque.
 */
export function readPart(wire: JsonObject, ids: CallIds): readonly Part[] {
  if (isPlainText(wire)) return [withWireSource({ type: 'text', text: wire.text }, FORMAT, wire)]
  const fields = inCamelCase(wire, KNOWN_FIELDS)
  const kinds = kindsOf(fields)
  const signatureField = readSignatureField(fields)
  if (signatureField !== undefined && (kinds.length === 0 ? hasOnlyText(fields) : isEmptyText(fields, kinds)))
    return withSource(readLoneSignature(fields, signatureField), wire, signatureField)
  const [kind] = kinds
  if (kind === 'text' && kinds.length === 1) {
    if (fields['thought'] === true) return withSource([readReasoning(fields, signatureField)], wire, signatureField)
    return withSignature(
      { type: 'text', text: fields['text'] as string, ...contentsExtras(fields, TEXT_FIELDS) },
      wire,
      signatureField,
    )
  }
  const reads = kinds.map(kind => READERS[kind]?.(fields, kinds.length > 1 ? new CallIds() : ids))
  const read = reads.length === 1 ? reads[0] : undefined
  return withSignature(read ?? opaque(wire, fields, signatureField !== undefined), wire, signatureField)
}

/** Returns true if a part has nothing but a text, as most parts do. */
function isPlainText(wire: JsonObject): wire is { readonly text: string } {
  for (const field in wire) if (field !== 'text') return false
  return typeof wire['text'] === 'string'
}

/**
 * Returns the kinds of data in a part, after checking the types of all known fields.
 *
 * @throws WrongType.
 */
function kindsOf(fields: JsonObject): readonly string[] {
  const kinds: string[] = []
  for (const field in fields) {
    const value = fields[field]!
    if (field === 'text' || field === 'thoughtSignature') text(value)
    else if (field === 'thought') flag(value)
    else if (DATA.has(field)) object(value)
    if (value !== null && DATA.has(field)) kinds.push(field)
  }
  return kinds
}

/** Content of a part's `thoughtSignature`: a signature, or the reasoning inside a wrapped signature. */
interface SignatureField {
  readonly reasoning: readonly WrappedReasoning[]
  /** True if the gateway wrapped the signature. */
  readonly wrapped: boolean
}

function readSignatureField({ thoughtSignature }: JsonObject): SignatureField | undefined {
  if (typeof thoughtSignature !== 'string' || isSkipSignature(thoughtSignature)) return undefined
  return { reasoning: unwrapReasoning(thoughtSignature, FORMAT), wrapped: isWrappedReasoning(thoughtSignature) }
}

/**
 * Returns the part, preceded by its reasoning parts. A wrapped signature never reaches an upstream. On a call, it is
 * replaced by the skip value, because Google refuses a first call without a signature (trap 31).
 */
function withSignature(part: Part, wire: JsonObject, signatureField: SignatureField | undefined): readonly Part[] {
  if (signatureField?.wrapped !== true) return [...reasoningPartsOf(signatureField), withWireSource(part, FORMAT, wire)]
  const { thoughtSignature: _, thought_signature: __, ...unsigned } = wire
  const source = part.type === 'tool-call' ? { ...unsigned, thoughtSignature: SKIP_SIGNATURE } : unsigned
  return [...reasoningPartsOf(signatureField), withWireSource(part, FORMAT, source)]
}

/** Records the wire value of a reasoning part, unless its signature was wrapped by the gateway. */
function withSource(
  reasoning: readonly ReasoningPart[],
  wire: JsonObject,
  signatureField: SignatureField | undefined,
): readonly ReasoningPart[] {
  const [first] = reasoning
  if (first !== undefined && signatureField?.wrapped !== true) withWireSource(first, FORMAT, wire)
  return reasoning
}

const reasoningPartsOf = (signatureField: SignatureField | undefined): readonly ReasoningPart[] =>
  signatureField === undefined
    ? NO_REASONING
    : signatureField.reasoning.map(item => ({
        type: 'reasoning',
        text: '',
        ...item,
        ...(signatureField.wrapped ? WRAPPED_MARK : {}),
      }))

const NO_REASONING: readonly ReasoningPart[] = []
const WRAPPED_MARK = { spelling: { [FORMAT]: { enclosed: true } } }

/** Returns true if a part without known data is reasoning or empty, rather than of an unknown kind. */
const hasOnlyText = (fields: JsonObject): boolean =>
  fields['thought'] === true || Object.keys(fields).every(field => TEXT_FIELDS.has(field) || fields[field] === null)

const TEXT_FIELDS = new Set(['text', 'thought', 'thoughtSignature'])

const isEmptyText = (fields: JsonObject, kinds: readonly string[]): boolean =>
  fields['text'] === '' && kinds.length === 1

/**
 * Reads the signature of a part without data. Earlier versions of the gateway wrote redacted reasoning of another
 * format as a part without text, and the signature of the preceding reasoning as a part with empty text.
 */
function readLoneSignature(fields: JsonObject, signatureField: SignatureField): readonly ReasoningPart[] {
  const [first, ...others] = signatureField.reasoning
  if (first === undefined || others.length > 0 || first.text !== undefined || first.redacted !== undefined)
    return reasoningPartsOf(signatureField)
  const text = anyText(fields['text'])
  const isReasoning = fields['thought'] === true
  const isHidden = text === undefined && isReasoning && first.signature!.format !== FORMAT
  const spelling = { [FORMAT]: defined({ as: 'alone', text, thought: isReasoning || undefined }) as JsonObject }
  const redacted = isHidden ? { redacted: true as const } : {}
  return [{ type: 'reasoning', text: '', ...first, ...redacted, ...contentsExtras(fields, TEXT_FIELDS), spelling }]
}

function readReasoning(fields: JsonObject, signatureField: SignatureField | undefined): ReasoningPart {
  const wrapped = signatureField?.reasoning.at(-1)
  const self = wrapped?.signature?.format === FORMAT ? SIGNED_HERE : {}
  return {
    type: 'reasoning',
    text: fields['text'] as string,
    ...wrapped,
    ...contentsExtras(fields, TEXT_FIELDS),
    ...self,
  }
}

const SIGNED_HERE = { spelling: { [FORMAT]: { proof: 'self' } } }

const INLINE = new Set(['inlineData', 'thoughtSignature'])
const FILE_FIELDS = new Set(['fileData', 'thoughtSignature'])
const CALL = new Set(['functionCall', 'thoughtSignature'])
const RESPONSE = new Set(['functionResponse', 'thoughtSignature'])

type PartReader = (fields: JsonObject, ids: CallIds) => Part | undefined

const READERS: { readonly [kind: string]: PartReader } = {
  inlineData: fields => readVisibleMedia(fields, 'inlineData', INLINE),
  fileData: fields => readVisibleMedia(fields, 'fileData', FILE_FIELDS),
  functionCall: (fields, ids) => {
    const read = readCall(fields['functionCall'] as JsonObject, ids)
    return read && { ...read.call, ...contentsExtras(fields, CALL, { functionCall: read.extras }) }
  },
  functionResponse: (fields, ids) => {
    const { result, extras: left } = readResponse(fields['functionResponse'] as JsonObject, ids)
    return { ...result, ...contentsExtras(fields, RESPONSE, { functionResponse: left }) }
  },
}

/** Reads media. Intermediate images in reasoning remain opaque, because other formats have none. */
function readVisibleMedia(
  fields: JsonObject,
  field: 'inlineData' | 'fileData',
  knownFields: ReadonlySet<string>,
): Part | undefined {
  const detail = detailOf(fields)
  const read = readMedia(
    fields,
    field,
    detail === undefined ? knownFields : new Set([...knownFields, 'mediaResolution']),
  )
  return read === undefined || fields['thought'] === true ? undefined : withDefined(read, { detail })
}

const DETAILS: { readonly [level: string]: string } = { MEDIA_RESOLUTION_LOW: 'low', MEDIA_RESOLUTION_HIGH: 'high' }

/** Reads the level of detail. Returns undefined if the canonical model lacks it. */
function detailOf(fields: JsonObject): string | undefined {
  const resolution = fields['mediaResolution']
  if (typeof resolution !== 'object' || resolution === null) return undefined
  const { level, ...others } = resolution as JsonObject
  return typeof level === 'string' && Object.hasOwn(DETAILS, level) && Object.keys(others).length === 0
    ? DETAILS[level]
    : undefined
}

/** Creates an opaque part from the wire value without its signature, which has become a separate part before it. */
function opaque(wire: JsonObject, fields: JsonObject, isSigned: boolean): OpaquePart {
  const { thoughtSignature: _, thought_signature: __, ...unsigned } = wire
  return { type: 'opaque', format: FORMAT, value: isSigned ? unsigned : wire, ...defined({ text: textOf(fields) }) }
}

/** Returns code run by the upstream, or its output, as text for formats without such parts. */
function textOf({ executableCode, codeExecutionResult }: JsonObject): string | undefined {
  const { code, language } = (executableCode ?? {}) as JsonObject
  if (typeof code === 'string') return `\n\`\`\`${stringIn(language).toLowerCase()}\n${code}\n\`\`\`\n`
  const { output } = (codeExecutionResult ?? {}) as JsonObject
  return typeof output === 'string' ? `\n\`\`\`\n${output}\n\`\`\`\n` : undefined
}
