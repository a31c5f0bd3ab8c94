import { BufferedBytes } from '../../src/canonical/bytes.ts'
import type { MediaPart, MediaSource, Part, ReasoningPart, TextPart } from '../../src/canonical/content.ts'
import { samplesOf } from '../../src/canonical/media/wav.ts'
import { isObject, type JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalRequest, Message } from '../../src/canonical/request.ts'
import type { Candidate, CanonicalResult } from '../../src/canonical/result.ts'
import { isLoneSignature, isUnsigned } from '../../src/canonical/signature.ts'
import { hasIndependentInputs } from '../../src/canonical/work.ts'

/**
 * Returns the meaning of a request, independent of its spelling: without spelling, with adjacent turns of one role
 * joined, without empty turns and texts, with chunks of reasoning joined, and with tool arguments as JSON. Messages
 * that are independent inputs stay separate.
 */
export function meaning(request: CanonicalRequest): CanonicalRequest {
  const plain = bare(request)
  if (hasIndependentInputs(request)) return { ...plain, messages: plain.messages.map(plainMessage) }
  const messages: Message[] = []
  for (const { content, ...head } of plain.messages) {
    const said = content.map(plainPart).filter(saysSomething)
    const last = messages.at(-1)
    if (last !== undefined && joins(last, head))
      messages[messages.length - 1] = { ...last, content: [...last.content, ...said] }
    else if (said.length > 0 || head.extras !== undefined) messages.push({ ...head, content: said })
  }
  return { ...plain, messages: messages.map(message => ({ ...message, content: wholeThoughts(message.content) })) }
}

/** Joins the chunks of reasoning, and the signature right after reasoning. */
function wholeThoughts(content: readonly Part[]): readonly Part[] {
  const whole: Part[] = []
  for (const part of content) {
    const one = oneThought(whole.at(-1), part)
    if (one === undefined) whole.push(beginning(part))
    else whole[whole.length - 1] = one
  }
  return whole
}

/**
 * Joins two neighbouring parts that are one reasoning: reasoning and its next chunk, or its signature. Undefined if
 * they are two parts.
 */
function oneThought(before: Part | undefined, part: Part): ReasoningPart | undefined {
  if (!isUnsigned(before)) return undefined
  if (isLoneSignature(part)) return { ...before, signature: part.signature }
  if (part.type !== 'reasoning' || part.continues === undefined || part.redacted || part.cache || part.extras)
    return undefined
  const { continues: _, ...chunk } = part
  return { ...chunk, text: before.text + part.text }
}

const plainMessage = (message: Message): Message => ({
  ...message,
  content: message.content.map(plainPart).filter(saysSomething),
})

/** Converts a chunk that continues nothing to reasoning. */
function beginning(part: Part): Part {
  if (part.type !== 'reasoning' || part.continues === undefined) return part
  const { continues: _, ...thought } = part
  return thought
}

/** Returns the meaning of an answer, as for requests. Neighbouring plain texts are joined. */
export function resultMeaning(result: CanonicalResult): CanonicalResult {
  const plain = bare(result)
  return { ...plain, candidates: plain.candidates.map(plainCandidate) }
}

function plainCandidate(candidate: Candidate): Candidate {
  const content: Part[] = []
  for (const part of wholeThoughts(candidate.content.map(plainPart).filter(saysSomething))) {
    const last = content.at(-1)
    const joined = last === undefined ? undefined : join(last, part)
    if (joined === undefined) content.push(part)
    else content[content.length - 1] = joined
  }
  const { finish, ...rest } = candidate
  if (finish === undefined) return { ...rest, content }
  const { raw: _, ...plainFinish } = finish
  return { ...rest, content, finish: plainFinish }
}

function join(a: Part, b: Part): Part | undefined {
  if (a.type === 'media' && b.type === 'media') return joinSamples(a, b)
  if (a.type !== b.type || !isPlain(a) || !isPlain(b)) return undefined
  return { ...a, text: (a as TextPart).text + (b as TextPart).text } as Part
}

/** Joins raw samples. Audio in a container is always a separate recording. */
function joinSamples(a: MediaPart, b: MediaPart): Part | undefined {
  if (a.source.type !== 'base64' || b.source.type !== 'base64' || a.source.mediaType !== b.source.mediaType)
    return undefined
  if (samplesOf(a.source.mediaType) === undefined || !isOnlyMedia(a) || !isOnlyMedia(b)) return undefined
  const data = Buffer.concat([a, b].map(({ source }) => Buffer.from((source as { data: string }).data, 'base64')))
  return { ...a, source: { ...a.source, data: data.toString('base64') } }
}

const isOnlyMedia = (part: MediaPart): boolean => Object.keys(part).length === 3

/** Whether a part has only its text. */
const isPlain = (part: Part): boolean =>
  (part.type === 'text' || part.type === 'reasoning' || part.type === 'refusal') && Object.keys(part).length === 2

const joins = (last: Message, head: Omit<Message, 'content'>): boolean =>
  last.role === head.role && last.name === head.name && last.extras === undefined && head.extras === undefined

const saysSomething = (part: Part): boolean => !isPlain(beginning(part)) || (part as TextPart).text !== ''

function plainPart(part: Part): Part {
  if (part.type === 'media' && part.source.type === 'bytes') return { ...part, source: inBase64(part.source) }
  if (part.type === 'tool-call' && part.freeform === undefined) return { ...part, arguments: plainJson(part.arguments) }
  if (part.type === 'opaque') return { type: 'opaque', format: part.format, value: part.value }
  if (part.type === 'tool-result') {
    // The name is that of the call, which the id identifies already.
    const { name: _, ...answer } = part
    return { ...answer, content: part.content.map(plainPart).filter(saysSomething) }
  }
  if (part.type === 'rank' && part.content !== undefined)
    return { ...part, content: part.content.map(plainPart).filter(saysSomething) }
  return part
}

/** Converts bytes in memory to base64. Values that went through JSON are base64 already. */
const inBase64 = ({ mediaType, bytes }: MediaSource & { type: 'bytes' }): MediaSource => ({
  type: 'base64',
  mediaType,
  data: bytes instanceof BufferedBytes ? bytes.toJSON() : String(bytes),
})

function plainJson(text: string): string {
  if (text === '') return '{}'
  try {
    return JSON.stringify(JSON.parse(text))
  } catch {
    return text
  }
}

function bare<T>(value: T): T {
  if (Array.isArray(value)) return value.map(bare) as T
  if (!isObject(value) || value instanceof BufferedBytes) return value
  const entries = Object.entries(value as object).filter(([key, item]) => item !== undefined && key !== 'spelling')
  const kept = entries
    .map(([key, item]) => [key, key === 'extras' ? filled(item as JsonObject) : bare(item)] as const)
    .filter(([key, item]) => !(WORTHLESS_WHEN_EMPTY.has(key) && isEmpty(item)))
  return Object.fromEntries(kept) as T
}

/** Removes formats without extras. The extras of a format stay unchanged. */
const filled = (extras: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(extras).filter(([, said]) => !isEmpty(said)))

const WORTHLESS_WHEN_EMPTY = new Set([
  'extras',
  'output',
  'sampling',
  'reasoning',
  'state',
  'annotations',
  'top',
  'logprobs',
  'tools',
  'text',
  'audio',
  'image',
  'video',
  'embedding',
  'usage',
  'transcript',
  'segments',
  'words',
  'inputBy',
  'outputBy',
])

/** Whether a value is empty or contains only empty values, such as `{ chat: {} }`. */
const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.values(value).every(isEmpty)
