import { BufferedBytes } from '../../src/canonical/bytes.ts'
import type { MediaPart, MediaSource, Part, ReasoningPart, TextPart } from '../../src/canonical/content.ts'
import { samplesOf } from '../../src/canonical/media/wav.ts'
import { isObject, type JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalRequest, Message } from '../../src/canonical/request.ts'
import type { Candidate, CanonicalResult } from '../../src/canonical/result.ts'
import { isLoneSignature, isUnsigned } from '../../src/canonical/signature.ts'
import { hasIndependentInputs } from '../../src/canonical/work.ts'

/**
 * What a request says, however it was spelled: spelling erased, adjacent turns of one role joined, turns and texts
 * that say nothing gone, pieces of a thought one, tool arguments compared as JSON. Messages that are a list of things stay apart.
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

/** Pieces of one thought, and the proof right behind a thought, as one. */
function wholeThoughts(content: readonly Part[]): readonly Part[] {
  const whole: Part[] = []
  for (const part of content) {
    const one = oneThought(whole.at(-1), part)
    if (one === undefined) whole.push(beginning(part))
    else whole[whole.length - 1] = one
  }
  return whole
}

/** Two neighbouring parts as one thought: a thought and its next chunk, or its proof; undefined where they are two. */
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

/** A piece that goes on with nothing is a thought. */
function beginning(part: Part): Part {
  if (part.type !== 'reasoning' || part.continues === undefined) return part
  const { continues: _, ...thought } = part
  return thought
}

/** What an answer says: as for requests, and neighbouring plain texts are one text. */
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

/** Raw samples go on where others end; of what is in a container each is a recording of its own. */
function joinSamples(a: MediaPart, b: MediaPart): Part | undefined {
  if (a.source.type !== 'base64' || b.source.type !== 'base64' || a.source.mediaType !== b.source.mediaType)
    return undefined
  if (samplesOf(a.source.mediaType) === undefined || !isOnlyMedia(a) || !isOnlyMedia(b)) return undefined
  const data = Buffer.concat([a, b].map(({ source }) => Buffer.from((source as { data: string }).data, 'base64')))
  return { ...a, source: { ...a.source, data: data.toString('base64') } }
}

const isOnlyMedia = (part: MediaPart): boolean => Object.keys(part).length === 3

/** A part that is its text and nothing else. */
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
    // The name is the call's, which the id already tells.
    const { name: _, ...answer } = part
    return { ...answer, content: part.content.map(plainPart).filter(saysSomething) }
  }
  if (part.type === 'rank' && part.content !== undefined)
    return { ...part, content: part.content.map(plainPart).filter(saysSomething) }
  return part
}

/** Bytes in memory say what their base64 says; in a value that went through JSON they are that already. */
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

/** Extras without the formats that say nothing; what a format says there is its own and stays as it is. */
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

/** Empty, or holding only empties: `{ chat: {} }` says nothing. */
const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.values(value).every(isEmpty)
