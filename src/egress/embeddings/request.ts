import type { MediaPart, OpaquePart, Part } from '../../canonical/content.ts'
import { foreignLosses, Losses, type Path, type Unwritten, type Written } from '../../canonical/loss.ts'
import { urlOfSource } from '../../canonical/media/data-url.ts'
import { type Json, type JsonObject, unchangedWire } from '../../canonical/node.ts'
import type { CanonicalRequest, EmbeddingPurpose, Message } from '../../canonical/request.ts'
import { tokenIdsOf } from '../../canonical/token-ids.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { type EmbeddingsDialect, embeddingsDialect } from '../../formats/dialects/embeddings.ts'
import { defined, extrasFor } from '../fields.ts'
import { reportImpliedType } from '../media/input-images.ts'
import { nativeSourceOf, withFields } from '../native.ts'
import { joinedText, plainTextOf } from '../sanitize/joined-text.ts'
import { type Conversational, dropExtras, PLAIN_MEDIA_LOSSES, reportConversational } from '../sanitize/unwritten.ts'
import type { WriteOptions } from '../writer.ts'

export const FORMAT = 'embeddings'

/** Shared state of the functions that write one request. */
interface WriteContext {
  readonly dialect: EmbeddingsDialect
  /** The caller's body without extras if the request is native, otherwise empty. */
  readonly nativeBody: JsonObject
  readonly losses: Losses
}

const MESSAGE_LOSSES: Unwritten<Message, 'role' | 'content'> = { name: 'no-speaker-names' }

const isTokens = ({ content }: Message): boolean => content.some(part => tokenIdsOf(part) !== undefined)

/** Writes one input: as received if possible, otherwise as tokens, an image or text. */
function writeItem(message: Message, path: Path, context: WriteContext): Json {
  const { losses } = context
  const nativeItem = unchangedWire<Json>(message, FORMAT)
  if (nativeItem !== undefined && !(isTokens(message) && context.dialect.tokens === false)) return nativeItem
  losses.dropFields(message, path, MESSAGE_LOSSES)
  if (message.role !== 'user') losses.change([...path, 'role'], 'user', 'no-roles')
  const [only, ...others] = message.content
  if (only !== undefined && others.length === 0) {
    if (only.type === 'opaque' && only.format === FORMAT) return writeOpaque(only, message, path, context)
    if (only.type === 'media') {
      const media = writeMedia(only, path, context)
      if (media !== undefined) return { ...media, ...extrasFor(message, FORMAT) }
    }
  }
  const text = writeText(message.content, path, losses)
  const extras = extrasFor(message, FORMAT)
  return Object.keys(extras).length > 0 ? { text, ...extras } : text
}

/**
 * Writes an opaque part of this format. A list of tokens cannot hold any other fields. An upstream without tokens gets
 * their text.
 */
function writeOpaque(part: OpaquePart, message: Message, path: Path, { dialect, losses }: WriteContext): Json {
  const tokens = tokenIdsOf(part)
  if (tokens === undefined) return part.value
  dropExtras(message, path, FORMAT, losses)
  if (dialect.tokens !== false) return tokens
  const at = [...path, 'content', 0]
  if (part.text === undefined) losses.drop(at, 'no-token-ids')
  else losses.change(at, { type: 'text', text: part.text }, 'token-ids-as-text')
  return part.text ?? ''
}

/** Writes an image as its URL or as bare base64, if the upstream accepts images. */
function writeMedia(part: MediaPart, path: Path, { dialect, losses }: WriteContext): JsonObject | undefined {
  const { source, kind } = part
  const at: Path = [...path, 'content', 0]
  const content = source.type === 'base64' ? source.data : urlOfSource(source)
  if (content === undefined || dialect.image_input !== true || kind !== 'image') return undefined
  losses.dropFields(part, at, MEDIA_LOSSES)
  dropExtras(part, at, FORMAT, losses)
  reportImpliedType(part, at, losses)
  return { image: content }
}

/** Joins all text parts of one input. Other parts are lost. */
const writeText = (content: readonly Part[], path: Path, losses: Losses): string =>
  joinedText(content, [...path, 'content'], losses, (part, at) => textOf(part, at, losses))

const MEDIA_LOSSES: Unwritten<MediaPart, 'type' | 'kind' | 'source' | 'made'> = {
  ...PLAIN_MEDIA_LOSSES,
  name: 'no-name-here',
  use: 'no-masks',
}

/** Returns the text of a part, or undefined if it has none. A text file's text starts with its name. */
function textOf(part: Part, path: Path, losses: Losses): string | undefined {
  if (part.type !== 'media' || part.source.type !== 'text') {
    const reason = part.type === 'media' ? 'no-media' : 'no-equivalent-field'
    return plainTextOf(part, path, { format: FORMAT, losses, reason })
  }
  const { source, name } = part
  const text = name === undefined ? source.text : `${name}\n\n${source.text}`
  losses.change(path, { type: 'text', text }, 'said-in-words')
  return text
}

/**
 * A vendor's value for a purpose. If no value fits exactly, `readPurpose` is the purpose that readers derive from the
 * written value.
 */
type PurposeValue = readonly [value: string, readPurpose?: EmbeddingPurpose]
type PurposeValues = { readonly [P in EmbeddingPurpose]?: PurposeValue }

const VOYAGE_PURPOSES: PurposeValues = {
  query: ['query'],
  document: ['document'],
  'question-answering': ['query', 'query'],
  'fact-verification': ['query', 'query'],
  'code-query': ['query', 'query'],
}

/** Values of NVIDIA NIM, which requires one ("'input_type' parameter is required for asymmetric models", OmniRoute#4341). */
const PASSAGE_PURPOSES: PurposeValues = { ...VOYAGE_PURPOSES, document: ['passage'] }

/** Purposes by the upstream's word for documents. */
const WORDS: { readonly [word: string]: PurposeValues } = { document: VOYAGE_PURPOSES, passage: PASSAGE_PURPOSES }

const JINA_PURPOSES: PurposeValues = {
  query: ['retrieval.query'],
  document: ['retrieval.passage'],
  similarity: ['text-matching'],
  'question-answering': ['retrieval.query', 'query'],
  'fact-verification': ['retrieval.query', 'query'],
}
const NEAR_QUERY: PurposeValue = ['retrieval.query', 'query']

/** Purposes that each of Jina's models supports. The first matching row applies. */
const JINA_MODELS: readonly (readonly [model: RegExp, values: PurposeValues])[] = [
  [/embeddings-v2|clip-v1|colbert/, {}],
  [
    /jina-code/,
    {
      query: ['nl2code.query', 'code-query'],
      document: ['nl2code.passage'],
      'code-query': ['nl2code.query'],
      'question-answering': ['qa.query'],
    },
  ],
  [/-v4/, { ...JINA_PURPOSES, 'code-query': ['code.query'] }],
  [
    /-v3/,
    { ...JINA_PURPOSES, classification: ['classification'], clustering: ['separation'], 'code-query': NEAR_QUERY },
  ],
  [
    /./s,
    { ...JINA_PURPOSES, classification: ['classification'], clustering: ['clustering'], 'code-query': NEAR_QUERY },
  ],
]

/**
 * Writes the purpose of the vectors, in the upstream's field or, if the channel declares none, in the caller's field.
 */
function writePurpose(request: CanonicalRequest, context: WriteContext): JsonObject {
  const { dialect, nativeBody, losses } = context
  const purpose = request.output.embedding?.purpose
  const nativeField = PURPOSE_FIELDS.find(one => nativeBody[one] != null)
  if (purpose === undefined) return writeDefault(request, nativeField, context)
  const field = dialect.purpose_field ?? nativeField ?? (dialect.default_purpose && DEFAULT_FIELD)
  if (field === undefined) {
    losses.drop(PURPOSE_PATH, 'no-purpose')
    return {}
  }
  const values = valuesOf(field, request.model, dialect)
  const nativeValue = nativeBody[field]
  const isAccepted = dialect.purpose_field !== 'input_type' || isAmong(values, nativeValue)
  if (nativeValue != null && isAccepted) return { [field]: nativeValue }
  const [value, readPurpose = purpose] = values[purpose] ?? defaultOf(values, dialect)
  if (value === undefined) losses.drop(PURPOSE_PATH, 'no-such-purpose')
  else if (readPurpose !== purpose) losses.change(PURPOSE_PATH, readPurpose, 'nearest-purpose')
  return value === undefined ? {} : { [field]: value }
}

const PURPOSE_PATH: Path = ['output', 'embedding', 'purpose']
/** Field of a purpose that the caller did not state, if the channel declares none. */
const DEFAULT_FIELD = 'input_type'

/** Writes the channel's purpose for a caller who stated none in a field that the upstream reads. */
function writeDefault(
  request: CanonicalRequest,
  nativeField: string | undefined,
  { dialect, losses }: WriteContext,
): JsonObject {
  const { purpose_field: field = DEFAULT_FIELD, default_purpose: purpose } = dialect
  const value = purpose && valuesOf(field, request.model, dialect)[purpose]?.[0]
  if (value === undefined || nativeField === field) return {}
  const hasSettings = request.output.embedding !== undefined
  if (hasSettings) losses.add(PURPOSE_PATH, purpose!, 'purpose-required')
  else losses.add(PURPOSE_PATH.slice(0, -1), { purpose: purpose! }, 'purpose-required')
  return { [field]: value }
}

/** Returns the value for a purpose that the upstream lacks, and the purpose that readers derive from it. */
function defaultOf(values: PurposeValues, { default_purpose: purpose }: EmbeddingsDialect): Partial<PurposeValue> {
  const value = purpose && values[purpose]?.[0]
  return value === undefined ? [] : [value, purpose!]
}

const isAmong = (values: PurposeValues, value: Json | undefined): boolean =>
  Object.values(values).some(([one]) => one === value)

const valuesOf = (field: string, model: string, { document_word = 'document' }: EmbeddingsDialect): PurposeValues =>
  field === 'input_type' ? WORDS[document_word]! : (JINA_MODELS.find(([pattern]) => pattern.test(model))?.[1] ?? {})

/** Fields that may change while the rest of the body remains unchanged: the model, and the inputs of a batch. */
const REWRITABLE: ReadonlySet<string> = new Set(['model', 'messages'])

/** Writes the request as `POST /embeddings` (docs/wire/embeddings.md#openai). */
export function writeRequest(request: CanonicalRequest, { dialect, native }: WriteOptions): Written<WireRequest> {
  const losses = new Losses()
  const { model, messages } = request
  const extras = extrasFor(request, FORMAT)
  const nativeSource = native ? nativeSourceOf(request, FORMAT, REWRITABLE) : undefined
  const nativeBody = nativeSource === undefined ? {} : withFields(nativeSource.wire.body, {}, Object.keys(extras))
  const context: WriteContext = { dialect: embeddingsDialect(dialect), nativeBody, losses }
  if (nativeSource === undefined) reportLosses(request, losses)
  const settings = writeSettings(request, context)
  for (const field in settings)
    if (extras[field] !== undefined) losses.drop(['extras', FORMAT, field], 'said-in-another-field')
  const isUnchanged =
    messages === nativeSource?.node.messages && !(dialect['tokens'] === false && messages.some(isTokens))
  const input = isUnchanged
    ? nativeBody['input']!
    : messages.map((message, index) => writeItem(message, ['messages', index], context))
  const fields = { model, input, ...settings }
  const removedFields = SETTING_FIELDS.filter(field => nativeBody[field] != null && settings[field] === undefined)
  const body =
    nativeSource === undefined ? { ...extras, ...fields } : withFields(nativeSource.wire.body, fields, removedFields)
  return { wire: { path: '/embeddings', query: {}, headers: {}, body }, losses: losses.list }
}

/** The vendors' fields for the number of dimensions. The first is the default. */
const DIMENSION_FIELDS = ['dimensions', 'output_dimension'] as const
/** The vendors' fields for the encoding. The first is the default. */
const ENCODING_FIELDS = ['encoding_format', 'embedding_type'] as const
/** The vendors' fields for the purpose of the vectors. */
const PURPOSE_FIELDS = ['input_type', 'task'] as const
/** All fields with settings, in any vendor's spelling. */
const SETTING_FIELDS = [...DIMENSION_FIELDS, ...ENCODING_FIELDS, ...PURPOSE_FIELDS, 'user']

function writeSettings(request: CanonicalRequest, context: WriteContext): JsonObject {
  const { dialect, nativeBody, losses } = context
  const { dimensions, encoding } = request.output.embedding ?? {}
  const fieldOf = (fields: readonly string[]): string => fields.find(field => nativeBody[field] != null) ?? fields[0]!
  const isAccepted =
    encoding === 'float' ? dialect.float_encoding : encoding === 'base64' ? dialect.base64_encoding : true
  const omitsEncoding = isAccepted === false
  if (omitsEncoding) losses.dropRestored(['output', 'embedding', 'encoding'], 'numbers-by-default')
  if (dialect.end_user === false && request.endUser !== undefined) losses.drop(['endUser'], 'no-end-user')
  const { dimensions_field = fieldOf(DIMENSION_FIELDS) } = dialect
  const hasLength = dimensions_field !== 'none'
  if (!hasLength && dimensions !== undefined) losses.drop(['output', 'embedding', 'dimensions'], 'no-choice-of-length')
  return defined({
    ...(hasLength ? { [dimensions_field]: dimensions } : {}),
    [dialect.encoding_field ?? fieldOf(ENCODING_FIELDS)]: omitsEncoding ? undefined : encoding,
    ...writePurpose(request, context),
    user: dialect.end_user === false ? undefined : request.endUser,
  }) as JsonObject
}

const REQUEST_LOSSES: Unwritten<
  CanonicalRequest,
  Conversational | 'model' | 'messages' | 'output' | 'sampling' | 'endUser' | 'stream'
> = { state: 'no-state' }

/** Reports everything that only applies to conversations. */
function reportLosses(request: CanonicalRequest, losses: Losses): void {
  losses.report(foreignLosses(request, FORMAT))
  reportConversational(request, losses)
  losses.dropFields(request, [], REQUEST_LOSSES)
}
