import type { MediaSource, OpaquePart, Part } from '../../canonical/content.ts'
import { append } from '../../canonical/lists.ts'
import type { Path } from '../../canonical/loss.ts'
import { sourceOfUrl } from '../../canonical/media/data-url.ts'
import { sniffBase64 } from '../../canonical/media/sniff.ts'
import { isObject, type Json, type JsonObject, type Node, wireSourceOf, withWireSource } from '../../canonical/node.ts'
import type { CanonicalRequest, EmbeddingPurpose, Message, Output } from '../../canonical/request.ts'
import type { VectorEncoding } from '../../canonical/vector.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import type { BodyFields } from '../body-fields.ts'
import { readOrExplain } from '../errors/validation-error.ts'
import { defined, definedIfAny, extrasOf, number, required, text, WrongType } from '../fields.ts'
import { type Locate, locator } from '../locate.ts'
import * as wire from './wire.ts'

export const FORMAT = 'embeddings'

/**
 * Reads the body of `POST /v1/embeddings` (docs/wire/embeddings.md#openai), with the fields of OpenAI, Voyage or Jina.
 *
 * @throws GatewayError `invalid-request` naming the field at fault.
 */
export const readRequest = (incoming: WireRequest): CanonicalRequest =>
  readOrExplain(wire.request, incoming.body, () => withWireSource(readBody(incoming), FORMAT, incoming))

const KNOWN_FIELDS = new Set([
  ...['model', 'input', 'dimensions', 'output_dimension', 'encoding_format', 'embedding_type'],
  ...['input_type', 'task', 'user'],
])

/** Matches Mistral's SDKs, which refuse an answer without an id. */
const IDENTIFYING_CLIENTS = /\bmistral(?:ai\b|-client-)/

function readBody({ body, headers }: WireRequest): CanonicalRequest {
  const unreadFields: string[] = []
  const messages = readInput(required(body['input'] ?? undefined))
  const dimensions = number(body['dimensions'])
  const other = number(body['output_dimension'])
  if (dimensions !== undefined) unreadFields.push('output_dimension')
  const embedding = definedIfAny({
    dimensions: dimensions ?? other,
    encoding: readEncoding(body, unreadFields),
    purpose: readPurpose(body, unreadFields),
  }) satisfies Output['embedding']
  return {
    model: required(text(body['model'])),
    messages,
    output: { modalities: ['embedding'], ...defined({ embedding }) },
    sampling: {},
    ...defined({ endUser: text(body['user']) }),
    stream: false,
    ...extrasOf(FORMAT, body, KNOWN_FIELDS, unreadFields),
    ...(IDENTIFYING_CLIENTS.test(headers['user-agent'] ?? '') ? { spelling: { [FORMAT]: { needsId: true } } } : {}),
  }
}

function readEncoding(body: JsonObject, unreadFields: string[]): VectorEncoding | undefined {
  const usual = encodingIn(text(body['encoding_format']))
  const other = encodingIn(body['embedding_type'])
  if (usual === undefined) unreadFields.push('encoding_format')
  if (usual !== undefined || other === undefined) unreadFields.push('embedding_type')
  return usual ?? other
}

const encodingIn = (value: Json | undefined): VectorEncoding | undefined =>
  value === 'float' || value === 'base64' ? value : undefined

/** Reads the inputs: a string, a list of tokens, an object with a text or an image, or a list of these. */
function readInput(input: Json): readonly Message[] {
  if (isSingleInput(input)) return [messageOfItem(input)]
  if (!Array.isArray(input) || input.length === 0) throw WrongType.instance
  return input.map(messageOfItem)
}

/** Returns true for a single input. A list that starts with a number is a list of tokens and thus a single input. */
const isSingleInput = (input: Json | undefined): boolean =>
  typeof input === 'string' || isObject(input) || (Array.isArray(input) && typeof input[0] === 'number')

/** Creates the message for one input and records its source. */
function messageOfItem(item: Json): Message {
  if (typeof item === 'string') return withWireSource(messageOfPart({ type: 'text', text: item }), FORMAT, item)
  if (Array.isArray(item)) return withWireSource(messageOfTokens(item), FORMAT, item)
  if (isObject(item)) return withWireSource(messageOfObject(item), FORMAT, item)
  throw WrongType.instance
}

const messageOfPart = (part: Part, node: Node = {}): Message => ({ role: 'user', content: [part], ...node })

/** Creates a message from token ids. Token ids are specific to a model, so no other format can express them. */
function messageOfTokens(tokens: readonly Json[]): Message {
  if (tokens.length === 0 || !tokens.every(token => typeof token === 'number')) throw WrongType.instance
  return messageOfPart(opaqueInput({ tokens }))
}

const opaqueInput = (value: JsonObject): OpaquePart => ({ type: 'opaque', format: FORMAT, value, reference: true })

const KINDS = ['text', 'image', 'pdf'] as const
const KINDS_TAKEN: ReadonlySet<string> = new Set(KINDS)

/**
 * Reads an input in Jina's form: an object with one value under the name of its kind. Any other object becomes opaque.
 */
function messageOfObject(item: JsonObject): Message {
  const [kind, ...others] = KINDS.filter(name => item[name] != null)
  const content = kind === undefined ? undefined : item[kind]
  if (kind === undefined || others.length > 0 || typeof content !== 'string') return messageOfPart(opaqueInput(item))
  const node = extrasOf(FORMAT, item, KINDS_TAKEN)
  if (kind === 'text') return messageOfPart({ type: 'text', text: content }, node)
  const isUrl = /^[a-z][a-z0-9+.-]*:/i.test(content)
  const source = isUrl ? sourceOfUrl(content) : sourceOfBase64(content, kind)
  return messageOfPart({ type: 'media', kind: kind === 'pdf' ? 'file' : 'image', source }, node)
}

const DEFAULT_TYPES = { image: 'image/jpeg', pdf: 'application/pdf' } as const

/** Creates a media source from base64 without a declared media type. */
const sourceOfBase64 = (data: string, kind: keyof typeof DEFAULT_TYPES): MediaSource => ({
  type: 'base64',
  mediaType: sniffBase64(data) ?? DEFAULT_TYPES[kind],
  data,
})

/**
 * Purposes of vectors by vendor value (docs/wire/embeddings.md#purposes): Voyage's values are in `input_type`, Jina's
 * in `task`.
 */
const PURPOSES: ReadonlyMap<Json | undefined, EmbeddingPurpose> = new Map<Json | undefined, EmbeddingPurpose>([
  ['query', 'query'],
  ['search_query', 'query'],
  ['retrieval.query', 'query'],
  ['document', 'document'],
  ['passage', 'document'],
  ['search_document', 'document'],
  ['retrieval.passage', 'document'],
  ['code.passage', 'document'],
  ['qa.passage', 'document'],
  ['nl2code.passage', 'document'],
  ['code2code.passage', 'document'],
  ['code2nl.passage', 'document'],
  ['code2completion.passage', 'document'],
  ['text-matching', 'similarity'],
  ['classification', 'classification'],
  ['clustering', 'clustering'],
  ['separation', 'clustering'],
  ['qa.query', 'question-answering'],
  ['code.query', 'code-query'],
  ['nl2code.query', 'code-query'],
])

const PURPOSE_FIELDS = ['input_type', 'task'] as const

/** Reads the purpose of the vectors. An unknown value becomes an extra. */
function readPurpose(body: JsonObject, unreadFields: string[]): EmbeddingPurpose | undefined {
  const field = PURPOSE_FIELDS.find(one => PURPOSES.has(body[one]))
  append(
    unreadFields,
    PURPOSE_FIELDS.filter(one => one !== field),
  )
  return field && PURPOSES.get(body[field])
}

const INPUT: Path = ['input']

/** Locates the inputs: a single input, or the items of a list. */
export function locate(request: CanonicalRequest): Locate {
  const input = wireSourceOf<WireRequest>(request, FORMAT)?.wire.body['input']
  const paths = request.messages.map((_, index): Path => (isSingleInput(input) ? INPUT : [...INPUT, index]))
  return locator(
    'input',
    paths.map(at => ({ at, parts: [at] })),
    INPUT,
  )
}

/** The body fields of the request's settings. */
export const BODY_FIELDS: BodyFields = {
  'output/embedding': ['input'],
  'output/embedding/dimensions': ['dimensions', 'output_dimension'],
  'output/embedding/encoding': ['encoding_format', 'embedding_type'],
  'output/embedding/purpose': ['input_type', 'task'],
  'output/modalities': ['input'],
  endUser: ['user'],
}
