import type { MediaPart, Part, TextPart } from '../../canonical/content.ts'
import type { Losses, Path, Unwritten } from '../../canonical/loss.ts'
import { urlOfSource } from '../../canonical/media/data-url.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, EmbeddingPurpose, Message } from '../../canonical/request.ts'
import { defined, kept, spelt } from '../fields.ts'
import { reportUnwritten } from '../sanitize/bare.ts'

const FORMAT = 'cohere'
const EMBEDDING = new Set(['modalities', 'embedding'])

const WRITTEN_OUT = { kind: 'added', reason: 'said-outright', restored: true } as const

/** An embedding request (FORMATS §8). */
export function writeEmbed(request: CanonicalRequest, native: boolean, losses: Losses): JsonObject {
  reportUnwritten(request, EMBEDDING, losses)
  const { dimensions } = request.output.embedding ?? {}
  if (request.output.embedding === undefined && !native)
    losses.list.push({ ...WRITTEN_OUT, path: ['output', 'embedding'], became: {} })
  return {
    model: request.model,
    ...(native ? originalLists(request, losses) : writeLists(request, losses)),
    ...defined({
      input_type: native ? inputTypeOf(request) : writePurpose(request, losses),
      embedding_types: writeEncoding(request, native, losses),
      output_dimension: dimensions,
    }),
    ...kept(request, FORMAT),
  } as JsonObject
}

/** The input type for each purpose, and the purpose it stands for, where that is only near to the requested one. */
const PURPOSES: { readonly [P in EmbeddingPurpose]: readonly [word: string, means?: EmbeddingPurpose] } = {
  query: ['search_query'],
  document: ['search_document'],
  classification: ['classification'],
  clustering: ['clustering'],
  similarity: ['clustering', 'clustering'],
  'question-answering': ['search_query', 'query'],
  'fact-verification': ['search_query', 'query'],
  'code-query': ['search_query', 'query'],
}

const inputTypeOf = (request: CanonicalRequest): Json | undefined => {
  const purpose = request.output.embedding?.purpose
  return purpose === undefined ? spelt(request, FORMAT)['type'] : PURPOSES[purpose][0]
}

/** The field is required; images alone have an input type of their own. */
function writePurpose(request: CanonicalRequest, losses: Losses): Json {
  const { embedding } = request.output
  const path = ['output', 'embedding', 'purpose']
  if (embedding?.purpose !== undefined) {
    const [inputType, means = embedding.purpose] = PURPOSES[embedding.purpose]
    if (means !== embedding.purpose) losses.change(path, means, 'nearest-purpose')
    return inputType
  }
  if (request.messages.every(({ content }) => content.length === 1 && linkOf(content[0]!) !== undefined)) return 'image'
  losses.add(path, 'document', 'purpose-required')
  return 'search_document'
}

/** Floats by default. */
function writeEncoding({ output }: CanonicalRequest, native: boolean, losses: Losses): Json | undefined {
  const { embedding } = output
  if (embedding?.encoding !== undefined || native) return embedding?.encoding && [embedding.encoding]
  losses.list.push({ ...WRITTEN_OUT, path: ['output', 'embedding', 'encoding'], became: 'float' })
  return ['float']
}

/** Each input in the list it was read from. */
function originalLists({ messages, ...rest }: CanonicalRequest, losses: Losses): JsonObject {
  const texts: Json[] = []
  const images: Json[] = []
  const inputs: Json[] = []
  for (const [index, message] of messages.entries()) {
    const [only] = message.content
    const { in: list } = spelt(message, FORMAT)
    if (list === 'inputs') inputs.push(writeInput(message, ['messages', index], losses))
    else if (list === 'images') images.push(only?.type === 'media' ? (urlOfSource(only.source) ?? '') : '')
    else texts.push(only?.type === 'text' ? only.text : '')
  }
  const empty = (spelt(rest as CanonicalRequest, FORMAT)['empty'] ?? []) as readonly string[]
  return Object.fromEntries(
    Object.entries({ texts, images, inputs }).filter(([list, all]) => all.length > 0 || empty.includes(list)),
  )
}

/** Texts alone as texts; otherwise each input as its parts. */
function writeLists({ messages }: CanonicalRequest, losses: Losses): JsonObject {
  const inputs = messages.map((message, index) => writeInput(message, ['messages', index], losses))
  const texts = inputs.map(plainText)
  return texts.every(text => text !== undefined) ? { texts } : { inputs }
}

/** The text of an input that has nothing else. */
function plainText(input: JsonObject): string | undefined {
  const [only, ...others] = input['content'] as readonly JsonObject[]
  const isPlain = others.length === 0 && Object.keys(input).length === 1 && Object.keys(only!).length === 2
  return isPlain && only!['type'] === 'text' ? (only!['text'] as string) : undefined
}

const NOTHING: JsonObject = { type: 'text', text: '' }

function writeInput(message: Message, path: Path, losses: Losses): JsonObject {
  const content = message.content.flatMap((part, index): JsonObject[] => {
    const written = writePart(part, [...path, 'content', index], losses)
    return written === undefined ? [] : [written]
  })
  const wasInput = spelt(message, FORMAT)['in'] === 'inputs'
  return { content: content.length === 0 && !wasInput ? [NOTHING] : content, ...kept(message, FORMAT) }
}

const NO_MARKS: Unwritten<TextPart, 'type' | 'text'> = { cache: 'no-cache-markers', annotations: 'no-annotations' }
const NO_NOTES = { cache: 'no-cache-markers', name: 'no-name-here', detail: 'no-detail-here', use: 'no-masks' }

function writePart(part: Part, at: Path, losses: Losses): JsonObject | undefined {
  if (part.type === 'text') {
    losses.dropFields(part, at, NO_MARKS)
    return { type: 'text', text: part.text, ...kept(part, FORMAT) }
  }
  if (part.type === 'opaque') {
    if (part.format === FORMAT) return part.value
    // A part of another format: its loss is reported with all such.
    return part.text === undefined ? undefined : { type: 'text', text: part.text }
  }
  const url = linkOf(part)
  if (part.type !== 'media' || url === undefined) {
    losses.drop(at, part.type === 'media' ? 'texts-and-pictures-only' : 'no-place-for-it')
    return undefined
  }
  losses.dropFields(part, at, { ...NO_NOTES, transcript: 'no-transcript-here' })
  if (part.source.type === 'url' && part.source.mediaType !== undefined)
    losses.drop([...at, 'source', 'mediaType'], 'told-by-the-address')
  return writePicture(part, url)
}

/** The data or the URL of an image. */
const linkOf = (part: Part): string | undefined =>
  part.type === 'media' && part.kind === 'image' ? urlOfSource(part.source) : undefined

function writePicture(part: MediaPart, url: string): JsonObject {
  const { image_url: more, ...outer } = kept(part, FORMAT)
  const inner = spelt(part, FORMAT)['inside'] as JsonObject | undefined
  const nulls = ((inner?.['nulls'] ?? []) as readonly string[]).map(field => [field, null] as const)
  return { type: 'image_url', image_url: { url, ...(more as JsonObject), ...Object.fromEntries(nulls) }, ...outer }
}
