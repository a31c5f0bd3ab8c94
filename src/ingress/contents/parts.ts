import { CallIds } from '../../canonical/call-ids.ts'
import type { OpaquePart, Part, ReasoningPart } from '../../canonical/content.ts'
import { type JsonObject, stringIn } from '../../canonical/node.ts'
import { disclose, type EnclosedThought, isEnvelope } from '../../canonical/signature.ts'
import { anyText, defined, flag, object, text, WrongType } from '../fields.ts'
import { readCall, readResponse } from './calls.ts'
import { FORMAT, nodeOf, type Opened, open, type Remains, remainsOf, writtenAs } from './fields.ts'
import { readFile, readInline } from './media.ts'

const DATA = [
  ...['text', 'inlineData', 'fileData', 'functionCall', 'functionResponse'],
  ...['executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse'],
] as const

const KNOWN = new Set([...DATA, 'thought', 'thoughtSignature', 'mediaResolution'])

/**
 * As `readPart`, for upstreams' parts: a malformed part, or one that has no place in an answer, is kept as it is.
 * Executed code is no text of the answer.
 */
export function readPartLeniently(wire: JsonObject, ids: CallIds): readonly Part[] {
  try {
    const read = readPart(wire, ids)
    return read.some(part => part.type === 'tool-result') ? [asItIs(wire)] : read.map(withoutText)
  } catch (thrown) {
    if (thrown instanceof WrongType) return [asItIs(wire)]
    throw thrown
  }
}

const asItIs = (value: JsonObject): OpaquePart => ({ type: 'opaque', format: FORMAT, value })

function withoutText(part: Part): Part {
  if (part.type !== 'opaque' || part.text === undefined) return part
  const { text: _, ...bare } = part
  return bare
}

/**
 * One part. Its signature becomes an empty reasoning part just before it, an envelope the thoughts in it; a signature
 * alone stays alone (traps 29, 31, 32, 102). A part of no kind that canonical has is kept as it is.
 */
export function readPart(wire: JsonObject, ids: CallIds): readonly Part[] {
  const part = open(wire, KNOWN)
  check(part.fields)
  const kinds = DATA.filter(kind => part.fields[kind] != null)
  const signed = readSlot(part)
  const { thoughts } = signed
  if (thoughts !== undefined && (kinds.length === 0 ? hasOnlyText(part.fields) : isEmptyText(part.fields, kinds)))
    return readLoneSlot(part, signed)
  if (kinds[0] === 'text' && kinds.length === 1) return readText(part, signed)
  const reads = kinds.map(kind => READERS[kind]?.(part, signed, kinds.length > 1 ? new CallIds() : ids))
  const read = reads.length === 1 ? reads[0] : undefined
  return [...thoughtParts(signed), read ?? opaque(wire, part, thoughts !== undefined)]
}

interface Signed {
  /** The slot's content, where it holds a signature or an envelope. */
  readonly thoughts?: readonly EnclosedThought[]
  readonly enclosed?: boolean
  /** Spelling of a slot that holds neither. */
  readonly marks: JsonObject
}

type PartReader = (part: Opened, signed: Signed, ids: CallIds) => Part | undefined

/** The value that callers without a signature send (trap 31), plain and in base64. */
const SKIP = 'skip_thought_signature_validator'
const SKIPS = new Set([SKIP, 'c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I='])

function readSlot({ fields }: Opened): Signed {
  const value = anyText(fields['thoughtSignature'])
  if (value === undefined) return { marks: {} }
  if (value === '' || SKIPS.has(value)) return { marks: { slot: value } }
  return { thoughts: disclose(value, FORMAT), enclosed: isEnvelope(value), marks: {} }
}

function check(fields: JsonObject): void {
  text(fields['text'])
  text(fields['thoughtSignature'])
  flag(fields['thought'])
  for (const kind of DATA) if (kind !== 'text') object(fields[kind])
}

/** The thoughts of an envelope, or a foreign part's own signature, stand in front of the part. */
const thoughtParts = ({ thoughts = [], enclosed }: Signed): readonly ReasoningPart[] =>
  thoughts.map(thought => ({ type: 'reasoning', text: '', ...thought, ...(enclosed ? ENCLOSED : {}) }))

const ENCLOSED = { spelling: { [FORMAT]: { enclosed: true } } }

/** Whether a part without data of a known kind is a thought or empty, rather than of an unknown kind. */
const hasOnlyText = (fields: JsonObject): boolean =>
  fields['thought'] === true || Object.keys(fields).every(field => TEXT.has(field) || fields[field] === null)

const TEXT = new Set(['text', 'thought', 'thoughtSignature'])

const isEmptyText = (fields: JsonObject, kinds: readonly string[]): boolean =>
  fields['text'] === '' && kinds.length === 1

/**
 * A slot with nothing to sign. In earlier versions a thought without any text, with a proof of another issuer, was one
 * that the issuer redacted, and one with an empty text the proof of the thought before it.
 */
function readLoneSlot(part: Opened, signed: Signed): readonly ReasoningPart[] {
  const { thoughts = [] } = signed
  const text = anyText(part.fields['text'])
  const thought = part.fields['thought'] ?? undefined
  const node = nodeOf(remainsOf(part, TEXT, { as: 'alone', text, thought }))
  const [first] = thoughts
  if (first === undefined || thoughts.length > 1 || first.text !== undefined || first.redacted !== undefined)
    return thoughtParts(signed)
  const hidden = text === undefined && thought === true && first.signature!.format !== FORMAT
  return [{ type: 'reasoning', text: '', ...first, ...(hidden ? { redacted: true as const } : {}), ...node }]
}

function readText(part: Opened, signed: Signed): readonly Part[] {
  const { thoughts, marks } = signed
  const { text, thought } = part.fields as { text: string; thought?: boolean | null }
  const empty = text === '' ? { text } : {}
  if (thought === true) {
    const proof = thoughts?.at(-1)
    const self = proof?.signature?.format === FORMAT ? { proof: 'self' } : {}
    const node = nodeOf(remainsOf(part, TEXT, { ...marks, ...empty, ...self }))
    return [{ type: 'reasoning', text, ...proof, ...node }]
  }
  const spelt = { ...marks, ...empty, thought: thought ?? undefined }
  return [...thoughtParts(signed), { type: 'text', text, ...nodeOf(remainsOf(part, TEXT, spelt)) }]
}

const INLINE = new Set(['inlineData', 'thoughtSignature'])
const FILE = new Set(['fileData', 'thoughtSignature'])
const CALL = new Set(['functionCall', 'thoughtSignature'])
const RESPONSE = new Set(['functionResponse', 'thoughtSignature'])

const READERS: { readonly [kind: string]: PartReader } = {
  inlineData: (part, signed) => readMedia(part, 'inlineData', INLINE, signed),
  fileData: (part, signed) => readMedia(part, 'fileData', FILE, signed),
  functionCall: (part, { marks: slot, enclosed }, ids) => {
    const read = readCall(part.fields['functionCall'] as JsonObject, ids)
    // Where the thought is another issuer's, the upstream gets the skip mark: it refuses a first call without any (trap
    // 31).
    const marks = enclosed ? { slot: SKIP } : slot
    return read && { ...read.call, ...nodeOf(remainsOf(part, CALL, marks, { functionCall: read.remains })) }
  },
  functionResponse: (part, { marks }, ids) => {
    const read = readResponse(part.fields['functionResponse'] as JsonObject, ids)
    return { ...read.result, ...nodeOf(remainsOf(part, RESPONSE, marks, { functionResponse: read.remains })) }
  },
}

/** Intermediate images are thoughts, which other formats do not have. */
function readMedia(
  part: Opened,
  field: 'inlineData' | 'fileData',
  taken: ReadonlySet<string>,
  { marks }: Signed,
): Part | undefined {
  const wire = part.fields[field] as JsonObject
  const read = field === 'inlineData' ? readInline(wire) : readFile(wire)
  if (read === undefined || part.fields['thought'] === true) return undefined
  const detail = detailOf(part.fields)
  const remains: Remains =
    detail === undefined
      ? remainsOf(part, taken, marks, { [field]: read.remains })
      : remainsOf(
          part,
          new Set([...taken, 'mediaResolution']),
          { ...marks, mediaResolution: part.fields['mediaResolution']! },
          { [field]: read.remains },
        )
  return { ...read.media, ...defined({ detail }), ...nodeOf(remains) }
}

const DETAILS: { readonly [level: string]: string } = { MEDIA_RESOLUTION_LOW: 'low', MEDIA_RESOLUTION_HIGH: 'high' }

/** The level of detail, where canonical has it. */
function detailOf(fields: JsonObject): string | undefined {
  const resolution = fields['mediaResolution']
  if (typeof resolution !== 'object' || resolution === null) return undefined
  const { level, ...others } = resolution as JsonObject
  return typeof level === 'string' && Object.hasOwn(DETAILS, level) && Object.keys(others).length === 0
    ? DETAILS[level]
    : undefined
}

/** The part as it was written, without its signature, which stands before it. */
function opaque(wire: JsonObject, opened: Opened, signed: boolean): OpaquePart {
  const text = textOf(opened.fields)
  const slot = writtenAs('thoughtSignature', opened)
  const { [slot]: _, ...unsigned } = wire
  return {
    type: 'opaque',
    format: FORMAT,
    value: signed ? unsigned : wire,
    ...defined({ text }),
    ...(!signed || slot === 'thoughtSignature'
      ? {}
      : { spelling: { [FORMAT]: { names: { thoughtSignature: slot } } } }),
  }
}

/** Code executed at the upstream, and its output, as text for formats that have no such part. */
function textOf({ executableCode, codeExecutionResult }: JsonObject): string | undefined {
  const { code, language } = (executableCode ?? {}) as JsonObject
  if (typeof code === 'string') return `\n\`\`\`${stringIn(language).toLowerCase()}\n${code}\n\`\`\`\n`
  const { output } = (codeExecutionResult ?? {}) as JsonObject
  return typeof output === 'string' ? `\n\`\`\`\n${output}\n\`\`\`\n` : undefined
}
