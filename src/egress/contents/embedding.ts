import { Budget } from '../../canonical/budget.ts'
import { CallIds } from '../../canonical/call-ids.ts'
import type { EmbeddingPart } from '../../canonical/content.ts'
import { foreignLosses, Losses, type Path, type Unwritten, type Written } from '../../canonical/loss.ts'
import { type JsonObject, wireSourceOf } from '../../canonical/node.ts'
import type { CanonicalRequest, EmbeddingPurpose, Message } from '../../canonical/request.ts'
import type { CanonicalResult, Usage } from '../../canonical/result.ts'
import { vectorAs } from '../../canonical/vector.ts'
import type { WireAnswer, WireRequest } from '../../canonical/wire.ts'
import { type ContentsDialect, contentsDialect } from '../../formats/dialects/contents.ts'
import { writeVectors } from '../media/vectors.ts'
import { nativeBodyOf } from '../native.ts'
import { type Conversational, reportConversational } from '../sanitize/unwritten.ts'
import type { WriteOptions } from '../writer.ts'
import { FORMAT, nativeExtras, nestedExtras, type WriteContext, withExtras, withExtrasUnlessEmpty } from './fields.ts'
import { MESSAGE_LOSSES } from './messages.ts'
import { nativeRequest } from './native.ts'
import { PartsWriter } from './parts.ts'
import { pathOf } from './path.ts'
import { predicts, type SharedSettings, writePrediction, writePredictions } from './prediction.ts'
import { writeUsage } from './usage.ts'

/**
 * Writes the inputs as `:batchEmbedContents`, with one request per input (docs/wire/embeddings.md#gemini). On Vertex
 * AI, which has no batches, a single input is sent to `:embedContent`.
 */
export function writeEmbedding(request: CanonicalRequest, options: WriteOptions): Written<WireRequest> {
  const dialect = contentsDialect(options.dialect)
  if (predicts(request.model, dialect)) return predictionOf(request, dialect)
  const native = nativeRequest(request, options)
  if (native !== undefined) return native
  const losses = new Losses(foreignLosses(request, FORMAT))
  const context: WriteContext = { dialect, native: false, losses, budget: new Budget() }
  const isSingle = request.messages.length === 1 && dialect.vertex === true
  const shared = { model: isSingle ? undefined : `models/${request.model}`, settings: takenSettings(request, losses) }
  const items = request.messages.map((message, index) => writeItem(message, ['messages', index], shared, context))
  const body = withExtras(nativeExtras(request), isSingle ? items[0]! : { requests: items })
  reportLosses(request, losses)
  const path = pathOf(request.model, isSingle ? 'embedContent' : 'batchEmbedContents', dialect)
  return { wire: { path, query: {}, headers: {}, body }, losses: losses.list }
}

const PURPOSES: { readonly [P in EmbeddingPurpose]: string } = {
  query: 'RETRIEVAL_QUERY',
  document: 'RETRIEVAL_DOCUMENT',
  similarity: 'SEMANTIC_SIMILARITY',
  classification: 'CLASSIFICATION',
  clustering: 'CLUSTERING',
  'question-answering': 'QUESTION_ANSWERING',
  'fact-verification': 'FACT_VERIFICATION',
  'code-query': 'CODE_RETRIEVAL_QUERY',
}

/** Writes a request for a model of Google Cloud that has no `:embedContent`. */
function predictionOf(request: CanonicalRequest, dialect: ContentsDialect): Written<WireRequest> {
  const losses = new Losses()
  reportLosses(request, losses)
  const { wire, losses: ofInputs } = writePrediction(request, settingsOf(request), dialect)
  return { wire, losses: [...ofInputs, ...losses.list] }
}

/** Returns the settings of the vectors in the format's values. */
function settingsOf({ output }: CanonicalRequest): SharedSettings {
  const { purpose, dimensions } = output.embedding ?? {}
  return { taskType: purpose && PURPOSES[purpose], outputDimensionality: dimensions }
}

/** Matches models that ignore the task type (docs/wire/embeddings.md#gemini). */
const WITHOUT_TASKS = /gemini-embedding-(?:[2-9]|[1-9]\d)/

/** Returns the settings that the model reads. */
function takenSettings(request: CanonicalRequest, losses: Losses): SharedSettings {
  const settings = settingsOf(request)
  if (settings.taskType === undefined || !WITHOUT_TASKS.test(request.model)) return settings
  losses.drop(['output', 'embedding', 'purpose'], 'no-purpose')
  return { ...settings, taskType: undefined }
}

/** Fields that all inputs of a request share. A batch repeats the model in each of its requests. */
interface Shared {
  readonly model: string | undefined
  readonly settings: SharedSettings
}

/** Writes one input with the request's settings. Vertex AI reads them only from `embedContentConfig`. */
function writeItem(message: Message, path: Path, { model, settings }: Shared, context: WriteContext): JsonObject {
  const extras = nativeExtras(message)
  const usesConfigField = context.dialect.vertex === true
  return withExtras(extras, {
    model,
    content: writeContent(message, nestedExtras(extras, 'content'), path, context),
    ...(usesConfigField ? {} : settings),
    embedContentConfig: withExtrasUnlessEmpty(
      nestedExtras(extras, 'embedContentConfig'),
      usesConfigField ? settings : {},
    ),
  })
}

function writeContent(message: Message, extras: JsonObject | undefined, path: Path, context: WriteContext): JsonObject {
  context.losses.dropFields(message, path, MESSAGE_LOSSES)
  if (message.role !== 'user') context.losses.change([...path, 'role'], 'user', 'no-roles')
  const writer = new PartsWriter(context, new CallIds())
  writer.putAll(message, 'user', path)
  writer.end()
  return withExtras(extras, { parts: writer.parts })
}

const REQUEST_LOSSES: Unwritten<
  CanonicalRequest,
  Conversational | 'model' | 'messages' | 'output' | 'sampling' | 'stream'
> = { state: 'no-state', endUser: 'no-end-user' }

/**
 * Reports the request's losses. The encoding is not sent, because the gateway itself converts the vectors to the
 * requested encoding.
 */
function reportLosses(request: CanonicalRequest, losses: Losses): void {
  reportConversational(request, losses)
  losses.dropFields(request, [], REQUEST_LOSSES)
  if (request.output.embedding?.encoding !== undefined)
    losses.dropRestored(['output', 'embedding', 'encoding'], 'always-numbers')
}

/**
 * Writes vectors in the shape that the requested method returns: one `embedding`, or a list of `embeddings` or
 * `predictions` (docs/wire/embeddings.md#gemini).
 */
export function writeEmbedded(result: CanonicalResult, request: CanonicalRequest): Written<WireAnswer> {
  const method = wireSourceOf<WireRequest>(request, FORMAT)?.wire.path.split(':').at(-1)
  const isSingle = method === undefined ? undefined : method === 'embedContent'
  const native = method === 'predict' ? undefined : nativeBodyOf(result, FORMAT, {})
  if (native !== undefined && (isSingle === undefined || isSingle === 'embedding' in native))
    return { wire: { status: 200, headers: {}, body: native }, losses: [] }
  const losses = new Losses(foreignLosses(result, FORMAT))
  losses.dropFields(result, [], { model: 'no-model-here' })
  const vectors = writeVectors(result, FORMAT, (part, path) => writeVector(part, path, losses), losses)
  const body = withExtras(nativeExtras(result), {
    ...(method === 'predict'
      ? { predictions: writePredictions(vectors, result.usage) }
      : {
          ...(isSingle && vectors.length === 1 ? { embedding: vectors[0] } : { embeddings: vectors }),
          usageMetadata: writeCounts(result.usage, losses),
        }),
  })
  return { wire: { status: 200, headers: {}, body }, losses: losses.list }
}

/**
 * Writes a vector as a list of numbers. The conversion is not a loss for the caller, because the gateway reverses it.
 */
function writeVector(part: EmbeddingPart, path: Path, losses: Losses): JsonObject {
  const values = vectorAs(part.vector, 'float') as readonly number[]
  if (typeof part.vector === 'string') losses.changeRestored([...path, 'vector'], values, 'always-numbers')
  return withExtras(nativeExtras(part), { values })
}

function writeCounts(usage: Usage | undefined, losses: Losses): JsonObject | undefined {
  const counts = writeUsage(usage, undefined, losses)
  if (counts === undefined) return counts
  const { promptTokensDetails, ...otherCounts } = counts
  return promptTokensDetails === undefined ? counts : { ...otherCounts, promptTokenDetails: promptTokensDetails }
}
