import type { Part } from '../../canonical/content.ts'
import type { Path } from '../../canonical/loss.ts'
import { sourceOfUrl } from '../../canonical/media/data-url.ts'
import { isObject, type JsonObject, wireSourceOf, withWireSource } from '../../canonical/node.ts'
import { type CanonicalRequest, type EmbeddingPurpose, type Message, userMessage } from '../../canonical/request.ts'
import type { VectorEncoding } from '../../canonical/vector.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import type { BodyFields } from '../body-fields.ts'
import { readOrExplain } from '../errors/validation-error.ts'
import {
  count,
  defined,
  definedIfAny,
  extrasOf,
  extrasWithin,
  list,
  number,
  object,
  objects,
  required,
  text,
  texts,
  WrongType,
} from '../fields.ts'
import { type Locate, locator, type MessagePaths } from '../locate.ts'
import * as wire from './wire.ts'
import { LISTS } from './wire.ts'

export const FORMAT = 'cohere'

/**
 * Reads the body of `POST /v2/rerank`, `/v2/embed` or `/v1/embed` (docs/wire/embeddings.md#cohere,
 * docs/wire/rerank.md#request).
 *
 * @throws GatewayError `invalid-request` naming the field at fault.
 */
export const readRequest = (incoming: WireRequest): CanonicalRequest =>
  readOrExplain(wire.requestAt(incoming), incoming.body, () =>
    withWireSource(wire.isEmbed(incoming) ? readEmbed(incoming) : readRerank(incoming.body), FORMAT, incoming),
  )

const KNOWN_FIELDS = new Set(['model', 'query', 'documents', 'top_n'])

/** Reads a rerank request. Answers of this API version never include the documents. */
function readRerank(body: JsonObject): CanonicalRequest {
  const documents = required(texts(body['documents']))
  const top = count(body['top_n'])
  if (documents.length === 0) throw WrongType.instance
  return {
    model: required(text(body['model'])),
    messages: documents.map(userMessage),
    output: { ranking: { query: required(text(body['query'])), ...defined({ top }), echo: false } },
    sampling: {},
    stream: false,
    ...extrasOf(FORMAT, body, KNOWN_FIELDS),
  }
}

const PURPOSES: ReadonlyMap<string | undefined, EmbeddingPurpose> = new Map<string | undefined, EmbeddingPurpose>([
  ['search_query', 'query'],
  ['search_document', 'document'],
  ['classification', 'classification'],
  ['clustering', 'clustering'],
])

const EMBED_TAKEN = new Set(['model', ...LISTS, 'input_type', 'embedding_types', 'output_dimension'])

/**
 * Reads an embed request. Each input becomes a message: first the texts, then the images, then inputs with several
 * parts.
 */
function readEmbed({ path, body }: WireRequest): CanonicalRequest {
  const plain = texts(body['texts']) ?? []
  const images = texts(body['images']) ?? []
  const inputs = objects(body['inputs']) ?? []
  const messages = [...plain.map(userMessage), ...images.map(imageMessage), ...inputs.map(inputMessage)]
  if (messages.length === 0) throw WrongType.instance
  const unreadFields: string[] = []
  const type = text(body['input_type'])
  const purpose = PURPOSES.get(type)
  if (purpose === undefined && type !== 'image') unreadFields.push('input_type')
  const encoding = readEncoding(body, unreadFields)
  const embedding = definedIfAny({ dimensions: number(body['output_dimension']), encoding, purpose })
  return {
    model: required(text(body['model'])),
    messages,
    output: { modalities: ['embedding'], ...defined({ embedding }) },
    sampling: {},
    stream: false,
    ...extrasOf(FORMAT, body, EMBED_TAKEN, unreadFields),
    ...(expectsList(path, body) ? { spelling: { [FORMAT]: { list: true } } } : {}),
  }
}

/** Returns true if the caller expects a plain list of vectors: in the API's first version, unless it names types. */
const expectsList = (path: string, body: JsonObject): boolean =>
  path.startsWith('/v1/') && body['embedding_types'] == null

/**
 * Reads an encoding that other formats also have. Quantized encodings, and several encodings at once, become extras.
 */
function readEncoding(body: JsonObject, unreadFields: string[]): VectorEncoding | undefined {
  const types = texts(body['embedding_types'])
  const encoding = (['float', 'base64'] as const).find(one => types?.includes(one))
  if (encoding === undefined || types?.length !== 1) unreadFields.push('embedding_types')
  return encoding
}

const imageMessage = (url: string): Message => ({
  role: 'user',
  content: [{ type: 'media', kind: 'image', source: sourceOfUrl(url) }],
})

const INPUT = new Set(['content'])

const inputMessage = (wire: JsonObject): Message => ({
  role: 'user',
  content: required(objects(wire['content'])).map(readPart),
  ...extrasOf(FORMAT, wire, INPUT),
})

const TEXT = new Set(['type', 'text'])
const IMAGE = new Set(['type', 'image_url'])
const LINK = new Set(['url'])

function readPart(wire: JsonObject): Part {
  const type = required(text(wire['type']))
  if (type === 'text') return { type: 'text', text: required(text(wire['text'])), ...extrasOf(FORMAT, wire, TEXT) }
  if (type !== 'image_url') return { type: 'opaque', format: FORMAT, value: wire }
  const link = required(object(wire['image_url']))
  const source = sourceOfUrl(required(text(link['url'])))
  return { type: 'media', kind: 'image', source, ...extrasWithin(FORMAT, wire, 'image_url', link, LINK, IMAGE) }
}

/** The body fields of the request's settings. */
export const BODY_FIELDS: BodyFields = {
  'output/ranking': ['documents'],
  'output/ranking/query': ['query'],
  'output/ranking/top': ['top_n'],
  'output/embedding': LISTS,
  'output/embedding/dimensions': ['output_dimension'],
  'output/embedding/encoding': ['embedding_types'],
  'output/embedding/purpose': ['input_type'],
  'output/modalities': LISTS,
}

/** Locates the documents to rank, or the inputs to embed in reading order. */
export function locate(request: CanonicalRequest): Locate {
  const body = wireSourceOf<WireRequest>(request, FORMAT)?.wire.body ?? {}
  const fields = request.output.ranking === undefined ? LISTS : ['documents']
  const paths = fields.flatMap(field =>
    (list(body[field]) ?? []).map((item, index): MessagePaths => {
      const at: Path = [field, index]
      const parts = isObject(item) ? list(item['content']) : undefined
      return { at, parts: parts?.map((_, part): Path => [...at, 'content', part]) ?? [at] }
    }),
  )
  return locator(fields[0]!, paths, [fields[0]!])
}
