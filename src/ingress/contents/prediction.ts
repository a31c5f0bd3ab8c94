import type { Part } from '../../canonical/content.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import { anyNumber, anyObject, anyObjects, defined, object, objects, required, text, WrongType } from '../fields.ts'
import { contentsExtras, FORMAT, inCamelCase } from './fields.ts'

/** Fields of a request. */
export const PREDICTION: ReadonlySet<string> = new Set(['instances', 'parameters'])
const INSTANCE = new Set(['content', 'taskType', 'title'])

/**
 * Returns the inputs of a `:predict` request as requests of `:batchEmbedContents`. The parameters belong to each of
 * them.
 *
 * @throws WrongType.
 */
export function inputsToPredict(body: JsonObject): readonly JsonObject[] {
  const instances = required(objects(body['instances']))
  if (instances.length === 0) throw WrongType.instance
  const parameters = object(body['parameters'])
  return instances.map(instance => {
    const { content, ...fields } = inCamelCase(instance, INSTANCE)
    return defined({
      ...fields,
      content: { parts: [{ text: required(text(content)) }] },
      embedContentConfig: parameters,
    }) as JsonObject
  })
}

/** Fields that are read from an answer. The count of characters is of no use beside that of tokens. */
const KNOWN_FIELDS = new Set(['predictions', 'metadata'])

/**
 * Reads an answer of `:predict`, by which some models of Google Cloud embed (docs/wire/embeddings.md#prediction). It has
 * no source, because callers of the format expect the answer of `:embedContent`.
 */
export function readPredicted(fields: JsonObject, predictions: readonly Json[]): CanonicalResult {
  const embeddings = anyObjects(predictions).map(prediction => anyObject(prediction['embeddings']) ?? {})
  const counts = embeddings.map(one => anyNumber(anyObject(one['statistics'])?.['token_count']))
  const isCounted = counts.length > 0 && !counts.includes(undefined)
  const input = isCounted ? counts.reduce<number>((sum, count) => sum + count!, 0) : undefined
  return {
    candidates: [{ content: embeddings.map(readVector) }],
    ...defined({ usage: input === undefined ? undefined : { input } }),
    ...contentsExtras(fields, KNOWN_FIELDS),
  }
}

const VECTOR = new Set(['values', 'statistics'])
const COUNT = new Set(['token_count'])

/** Reads one vector. That its text was cut remains an extra. */
function readVector(wire: JsonObject): Part {
  const { values } = wire
  if (!Array.isArray(values)) return { type: 'opaque', format: FORMAT, value: wire }
  const statistics = anyObject(wire['statistics'])
  const isCut = statistics?.['truncated'] === true
  const inside = isCut ? { statistics: contentsExtras(statistics, COUNT) } : {}
  return { type: 'embedding', vector: values as readonly number[], ...contentsExtras(wire, VECTOR, inside) }
}
