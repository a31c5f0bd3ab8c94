import { CallIds } from '../../canonical/call-ids.ts'
import type { Part } from '../../canonical/content.ts'
import { isObject, type Json, type JsonObject, withWireSource } from '../../canonical/node.ts'
import type { CanonicalRequest, EmbeddingPurpose, Message } from '../../canonical/request.ts'
import type { CanonicalResult, Usage } from '../../canonical/result.ts'
import type { WireAnswer, WireRequest } from '../../canonical/wire.ts'
import { faultyAnswer } from '../errors/faulty-answer.ts'
import { readInnerError } from '../errors/google-error.ts'
import { readOrExplain } from '../errors/validation-error.ts'
import { anyObject, anyObjects, defined, definedIfAny, object, objects, required, text, WrongType } from '../fields.ts'
import { type Address, checkModel, readAddress } from './address.ts'
import { asList, CONTENT, contentsExtras, type Extras, FORMAT, inCamelCase, numeral } from './fields.ts'
import { readPart } from './parts.ts'
import { inputsToPredict, PREDICTION, readPredicted } from './prediction.ts'
import { readUsage } from './usage.ts'
import * as wire from './wire.ts'

/* Readers for `:embedContent`, `:batchEmbedContents` and `:predict` (docs/wire/embeddings.md#gemini). */

/** Returns true if the method in a path creates embeddings. */
export const embeds = (path: string): boolean => /:(?:embedContent|batchEmbedContents|predict)$/.test(path)

/**
 * Reads the request of any of these methods. Each content becomes one input.
 *
 * @throws GatewayError `invalid-request` naming the field at fault.
 */
export function readEmbedding(request: WireRequest): CanonicalRequest {
  const address = readAddress(request.path)
  return readOrExplain(
    () => wire.requestAt(request),
    request.body,
    () => withWireSource(readBody(request.body, address), FORMAT, request),
  )
}

const BATCH_FIELDS = new Set(['requests', 'model'])

function readBody(body: JsonObject, { model, method }: Address): CanonicalRequest {
  if (method === 'embedContent') return embedding([body], model, {})
  if (method === 'predict') return predicted(body, model)
  const fields = inCamelCase(body, BATCH_FIELDS)
  checkModel(text(fields['model']), model)
  const items = required(objects(fields['requests']))
  if (items.length === 0) throw WrongType.instance
  return embedding(items, model, contentsExtras(fields, BATCH_FIELDS))
}

/** Reads a request of `:predict` as one of `:batchEmbedContents` with the same inputs. */
const predicted = (body: JsonObject, model: string): CanonicalRequest =>
  embedding(inputsToPredict(body), model, contentsExtras(body, PREDICTION))

function embedding(wires: readonly JsonObject[], model: string, outerExtras: Extras): CanonicalRequest {
  const items = wires.map(readItem)
  const purpose = sharedValue(items.map(item => item.purpose))
  const dimensions = sharedValue(items.map(item => item.dimensions))
  const unreadFields = [
    ...(purpose === undefined ? ['taskType'] : []),
    ...(dimensions === undefined ? ['outputDimensionality'] : []),
  ]
  return {
    model,
    messages: items.map((item, index) => withWireSource(messageOf(item, model, unreadFields), FORMAT, wires[index]!)),
    output: { modalities: ['embedding'], ...defined({ embedding: definedIfAny({ dimensions, purpose }) }) },
    sampling: {},
    stream: false,
    ...outerExtras,
  }
}

/**
 * Returns the value that all inputs share. If the values differ, returns undefined, and each input has its value as an
 * extra.
 */
const sharedValue = <T>([first, ...others]: readonly (T | undefined)[]): T | undefined =>
  others.every(other => other === first) ? first : undefined

const PURPOSES: ReadonlyMap<Json | undefined, EmbeddingPurpose> = new Map<Json | undefined, EmbeddingPurpose>([
  ['RETRIEVAL_QUERY', 'query'],
  ['RETRIEVAL_DOCUMENT', 'document'],
  ['SEMANTIC_SIMILARITY', 'similarity'],
  ['CLASSIFICATION', 'classification'],
  ['CLUSTERING', 'clustering'],
  ['QUESTION_ANSWERING', 'question-answering'],
  ['FACT_VERIFICATION', 'fact-verification'],
  ['CODE_RETRIEVAL_QUERY', 'code-query'],
])

const ITEM = new Set(['model', 'content', 'taskType', 'title', 'outputDimensionality', 'embedContentConfig'])
const CONFIG = new Set(['taskType', 'outputDimensionality'])

/** One input with its settings. They are in a config object, or in the API's first version next to the content. */
interface Item {
  readonly fields: JsonObject
  readonly purpose: EmbeddingPurpose | undefined
  readonly dimensions: number | undefined
  readonly config: JsonObject | undefined
  /** Fields read from the config object. */
  readonly fromConfig: readonly string[]
}

function readItem(wire: JsonObject): Item {
  const fields = inCamelCase(wire, ITEM)
  const configField = object(fields['embedContentConfig'])
  const config = configField && inCamelCase(configField, CONFIG)
  const [outer, inner] = [PURPOSES.get(text(fields['taskType'])), PURPOSES.get(text(config?.['taskType']))]
  const [size, innerSize] = [numeral(fields['outputDimensionality']), numeral(config?.['outputDimensionality'])]
  return {
    ...{ fields, config },
    purpose: outer ?? inner,
    dimensions: size ?? innerSize,
    fromConfig: [
      ...(outer === undefined && inner !== undefined ? ['taskType'] : []),
      ...(size === undefined && innerSize !== undefined ? ['outputDimensionality'] : []),
    ],
  }
}

const KNOWN_FIELDS = new Set(['model', 'content', 'taskType', 'outputDimensionality', 'embedContentConfig'])

function messageOf({ fields, config, fromConfig }: Item, model: string, unreadFields: readonly string[]): Message {
  checkModel(text(fields['model']), model)
  const content = inCamelCase(required(object(fields['content'])), CONTENT)
  text(content['role'])
  const ids = new CallIds()
  const knownFields = new Set(fromConfig.filter(field => !unreadFields.includes(field)))
  const nested = {
    content: contentsExtras(content, CONTENT),
    embedContentConfig: config && contentsExtras(config, knownFields),
  }
  return {
    role: 'user',
    content: (objects(asList(content['parts'])) ?? []).flatMap(part => readPart(part, ids)),
    ...contentsExtras(fields, KNOWN_FIELDS, nested, [...unreadFields, ...fromConfig]),
  }
}

const ANSWER = new Set(['embedding', 'embeddings', 'usageMetadata', 'error'])
const READ_FIELDS = new Set(['embedding', 'embeddings', 'usageMetadata'])

/**
 * Reads the answer of either method: one vector per content, in their order.
 *
 * @throws GatewayError for any other body.
 */
export function readEmbedded({ body }: WireAnswer): CanonicalResult {
  const fields = inCamelCase(body, ANSWER)
  const { embedding, embeddings, predictions } = fields
  if (Array.isArray(predictions)) return readPredicted(fields, predictions)
  const one = isObject(embedding) ? [embedding] : undefined
  const vectors = one ?? (Array.isArray(embeddings) ? anyObjects(embeddings) : undefined)
  if (vectors === undefined) throw faultyAnswer(fields, 'has no embeddings', readInnerError)
  const usage = anyObject(fields['usageMetadata'])
  const unreadFields = [
    ...(usage === undefined ? ['usageMetadata'] : []),
    ...(one === undefined ? ['embedding'] : ['embeddings']),
  ]
  const result: CanonicalResult = {
    candidates: [{ content: vectors.map(readVector) }],
    ...defined({ usage: usage && readCounts(usage) }),
    ...contentsExtras(fields, READ_FIELDS, {}, unreadFields),
  }
  return withWireSource(result, FORMAT, body)
}

const VECTOR = new Set(['values'])

function readVector(wire: JsonObject): Part {
  const { values } = wire
  if (!Array.isArray(values)) return { type: 'opaque', format: FORMAT, value: wire }
  return { type: 'embedding', vector: values as readonly number[], ...contentsExtras(wire, VECTOR) }
}

/**
 * Reads the token counts. Only the prompt is counted, so all tokens are input tokens. The Gemini API uses another name
 * for the counts by modality.
 */
function readCounts(wire: JsonObject): Usage {
  const { promptTokenDetails, ...others } = wire
  const known = promptTokenDetails === undefined ? wire : { ...others, promptTokensDetails: promptTokenDetails }
  const { input, output, ...usage } = readUsage(known)
  return { ...usage, ...(input === undefined && output === undefined ? {} : { input: (input ?? 0) + (output ?? 0) }) }
}
