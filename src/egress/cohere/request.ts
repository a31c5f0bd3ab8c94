import type { MediaPart, Part } from '../../canonical/content.ts'
import { cannotExpress } from '../../canonical/error.ts'
import { foreignLosses, Losses, type Path, type Written } from '../../canonical/loss.ts'
import { urlOfSource } from '../../canonical/media/data-url.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, EmbeddingPurpose, Message } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { workOf } from '../../canonical/work.ts'
import { defined, extrasFor } from '../fields.ts'
import { bodyWithModel, nativeSourceOf } from '../native.ts'
import { joinedText, plainTextOf } from '../sanitize/joined-text.ts'
import { PLAIN_TEXT_LOSSES, reportUnwritten } from '../sanitize/unwritten.ts'
import type { WriteOptions } from '../writer.ts'

export const FORMAT = 'cohere'

/** Writes the request as `POST /v2/rerank` or `/v2/embed`. Throws GatewayError `cannot-express` for any other work. */
export function writeRequest(request: CanonicalRequest, { native }: WriteOptions): Written<WireRequest> {
  const source = native ? nativeSourceOf(request, FORMAT) : undefined
  const nativeSource = source !== undefined && acceptsUnchanged(source.wire) ? source : undefined
  const losses = new Losses()
  const work = workOf(request)
  const write = WRITER_BY_WORK[work]
  if (write === undefined) throw cannotExpress('This upstream can only rank and embed.')
  const { path } = write
  const body = nativeSource === undefined ? write.body(request, losses) : bodyWithModel(request, nativeSource)
  return { wire: { query: {}, headers: {}, path, body }, losses: losses.list }
}

/** Returns true if version 2 accepts the body. Its first version requires neither a type of the input nor of vectors. */
const acceptsUnchanged = ({ path, body }: WireRequest): boolean =>
  !path.startsWith('/v1/') || (body['input_type'] != null && body['embedding_types'] != null)

interface EndpointWriter {
  readonly path: string
  body(request: CanonicalRequest, losses: Losses): JsonObject
}

const WRITER_BY_WORK: { readonly [work: string]: EndpointWriter } = {
  ranking: { path: '/v2/rerank', body: writeRerank },
  embedding: { path: '/v2/embed', body: writeEmbed },
}

const RANKING_FIELDS = new Set(['ranking'])

/**
 * Writes a ranking request. A request for document texts is not a loss, because the gateway itself adds them to the
 * answer.
 */
function writeRerank(request: CanonicalRequest, losses: Losses): JsonObject {
  losses.report(foreignLosses(request, FORMAT))
  const ranking = request.output.ranking!
  reportUnwritten(request, RANKING_FIELDS, losses)
  const echo: Path = ['output', 'ranking', 'echo']
  if (ranking.echo === true) losses.changeRestored(echo, false, 'repeated-by-the-gateway')
  if (ranking.echo === undefined) losses.addRestored(echo, false, EXPLICIT_DEFAULT.reason)
  const documents = request.messages.map((message, index) =>
    writeDocument(message, ['messages', index, 'content'], losses),
  )
  return {
    model: request.model,
    query: ranking.query,
    documents,
    ...defined({ top_n: ranking.top }),
    ...extrasFor(request, FORMAT),
  } as JsonObject
}

/** Joins all text parts of a document. Other parts are lost. */
const writeDocument = ({ content }: Message, path: Path, losses: Losses): string =>
  joinedText(content, path, losses, (part, at) =>
    plainTextOf(part, at, { format: FORMAT, losses, reason: 'documents-are-text' }),
  )

const EMBEDDING_FIELDS = new Set(['modalities', 'embedding'])

/** Kind and reason of the loss for a default value that the format requires in the request. */
const EXPLICIT_DEFAULT = { kind: 'added', reason: 'default-made-explicit', restored: true } as const

/** Writes an embedding request (docs/wire/embeddings.md#cohere). */
function writeEmbed(request: CanonicalRequest, losses: Losses): JsonObject {
  losses.report(foreignLosses(request, FORMAT))
  reportUnwritten(request, EMBEDDING_FIELDS, losses)
  const { dimensions } = request.output.embedding ?? {}
  if (request.output.embedding === undefined)
    losses.list.push({ ...EXPLICIT_DEFAULT, path: ['output', 'embedding'], became: {} })
  const images = imagesApart(request)
  return {
    model: request.model,
    ...writeLists(request, images, losses),
    ...defined({
      input_type: images === undefined ? writePurpose(request, losses) : writeImagePurpose(request, losses),
      embedding_types: writeEncoding(request, losses),
      output_dimension: dimensions,
    }),
    ...extrasFor(request, FORMAT),
  } as JsonObject
}

/**
 * Input type for each purpose. If no type fits exactly, `readPurpose` is the purpose that readers derive from the
 * written type.
 */
const PURPOSES: { readonly [P in EmbeddingPurpose]: readonly [inputType: string, readPurpose?: EmbeddingPurpose] } = {
  query: ['search_query'],
  document: ['search_document'],
  classification: ['classification'],
  clustering: ['clustering'],
  similarity: ['clustering', 'clustering'],
  'question-answering': ['search_query', 'query'],
  'fact-verification': ['search_query', 'query'],
  'code-query': ['search_query', 'query'],
}

/** Matches models that embed images only as `images` of the type `image`, not in `inputs`. */
const IMAGES_APART = /\bembed-[\w-]{0,60}v3\b/i

/** Returns the images of a request to such a model if every input is a single image. */
function imagesApart({ model, messages }: CanonicalRequest): readonly string[] | undefined {
  if (!IMAGES_APART.test(model)) return undefined
  const urls = messages.map(({ content }) => (content.length === 1 ? imageUrlOf(content[0]!) : undefined))
  return urls.every(url => url !== undefined) ? urls : undefined
}

/** Writes the type of images. Version 4 reads several inputs of this type as one, so that only earlier versions get it. */
function writeImagePurpose({ output: { embedding } }: CanonicalRequest, losses: Losses): Json {
  if (embedding?.purpose !== undefined) losses.drop(['output', 'embedding', 'purpose'], 'no-purpose-of-images')
  return 'image'
}

/** Writes the required `input_type`. */
function writePurpose(request: CanonicalRequest, losses: Losses): Json {
  const { embedding } = request.output
  const path = ['output', 'embedding', 'purpose']
  if (embedding?.purpose !== undefined) {
    const [inputType, readPurpose = embedding.purpose] = PURPOSES[embedding.purpose]
    if (readPurpose !== embedding.purpose) losses.change(path, readPurpose, 'nearest-purpose')
    return inputType
  }
  losses.add(path, 'document', 'purpose-required')
  return 'search_document'
}

/** Writes the encoding. Defaults to floats. */
function writeEncoding({ output: { embedding } }: CanonicalRequest, losses: Losses): readonly Json[] {
  if (embedding?.encoding !== undefined) return [embedding.encoding]
  losses.list.push({ ...EXPLICIT_DEFAULT, path: ['output', 'embedding', 'encoding'], became: 'float' })
  return ['float']
}

/** Writes inputs as `texts` if all are plain text, otherwise as `inputs` with parts, or as `images` to earlier models. */
function writeLists({ messages }: CanonicalRequest, images: readonly string[] | undefined, losses: Losses): JsonObject {
  const inputs = messages.map((message, index) => writeInput(message, ['messages', index], losses))
  if (images !== undefined) return { images }
  const texts = inputs.map(plainText)
  return texts.every(text => text !== undefined) ? { texts } : { inputs }
}

/** Returns the text of an input that consists of one plain text part. */
function plainText(input: JsonObject): string | undefined {
  const [only, ...others] = input['content'] as readonly JsonObject[]
  const isPlain = others.length === 0 && Object.keys(input).length === 1 && Object.keys(only!).length === 2
  return isPlain && only!['type'] === 'text' ? (only!['text'] as string) : undefined
}

const EMPTY_TEXT: JsonObject = { type: 'text', text: '' }

function writeInput(message: Message, path: Path, losses: Losses): JsonObject {
  const content = message.content.flatMap((part, index): JsonObject[] => {
    const written = writePart(part, [...path, 'content', index], losses)
    return written === undefined ? [] : [written]
  })
  return { content: content.length === 0 ? [EMPTY_TEXT] : content, ...extrasFor(message, FORMAT) }
}

const IMAGE_LOSSES = { cache: 'no-cache-markers', name: 'no-name-here', detail: 'no-detail-here', use: 'no-masks' }

function writePart(part: Part, at: Path, losses: Losses): JsonObject | undefined {
  if (part.type === 'text') {
    losses.dropFields(part, at, PLAIN_TEXT_LOSSES)
    return { type: 'text', text: part.text, ...extrasFor(part, FORMAT) }
  }
  if (part.type === 'opaque') {
    if (part.format === FORMAT) return part.value
    // `foreignLosses` reports the losses of other formats' parts.
    return part.text === undefined ? undefined : { type: 'text', text: part.text }
  }
  const url = imageUrlOf(part)
  if (part.type !== 'media' || url === undefined)
    return losses.drop(at, part.type === 'media' ? 'text-and-images-only' : 'no-equivalent-field')
  losses.dropFields(part, at, { ...IMAGE_LOSSES, transcript: 'no-transcript-here' })
  if (part.source.type === 'url' && part.source.mediaType !== undefined)
    losses.drop([...at, 'source', 'mediaType'], 'implied-by-url')
  return writeImage(part, url)
}

/** Returns an image's URL or data URL. */
const imageUrlOf = (part: Part): string | undefined =>
  part.type === 'media' && part.kind === 'image' ? urlOfSource(part.source) : undefined

function writeImage(part: MediaPart, url: string): JsonObject {
  const { image_url: imageExtras, ...outer } = extrasFor(part, FORMAT)
  return { type: 'image_url', image_url: { url, ...(imageExtras as JsonObject) }, ...outer }
}
