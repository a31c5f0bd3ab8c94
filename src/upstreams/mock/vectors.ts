import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'

/** The request field of the inputs to embed, and the answer field of their vectors. */
const VECTOR_FIELDS = [
  { inputs: 'input', vectors: 'data' },
  { inputs: 'requests', vectors: 'embeddings' },
] as const

/** Returns a recorded answer with as many vectors or ranks as requested, repeating the recorded vectors. */
export function fitted(body: JsonObject, result: JsonObject): JsonObject {
  for (const { inputs, vectors } of VECTOR_FIELDS) {
    const [requested, recorded] = [body[inputs], result[vectors]]
    if (requested === undefined || !Array.isArray(recorded) || recorded.length === 0) continue
    const count = Array.isArray(requested) && typeof requested[0] !== 'number' ? requested.length : 1
    return {
      ...result,
      [vectors]: Array.from({ length: count }, (_, at) => withIndex(recorded[at % recorded.length]!, at)),
    }
  }
  return fittedToCohere(body, result)
}

/** Does the same for Cohere's shape: inputs are in one of three lists, vectors in one list per type. */
function fittedToCohere(body: JsonObject, result: JsonObject): JsonObject {
  const inputs = ['texts', 'images', 'inputs'].flatMap(list => (Array.isArray(body[list]) ? body[list] : []))
  const { embeddings, texts: _, ...others } = result
  if (inputs.length === 0 || !isObject(embeddings)) return rankings(body, result)
  const lists = Object.entries(embeddings).map(([type, list]) => [
    type,
    Array.isArray(list) && list.length > 0 ? inputs.map((_, at) => list[at % list.length]!) : list,
  ])
  return { ...others, embeddings: Object.fromEntries(lists) as JsonObject }
}

/** Limits a recorded ranking to the documents of the request; documents that were not recorded come last. */
function rankings(body: JsonObject, result: JsonObject): JsonObject {
  const { documents } = body
  const list = ['results', 'data'].find(one => Array.isArray(result[one]))
  if (!Array.isArray(documents) || list === undefined) return result
  const recorded = (result[list] as readonly Json[]).filter(
    rank => isObject(rank) && typeof rank['index'] === 'number' && rank['index'] < documents.length,
  )
  const ranked = new Set(recorded.map(rank => (rank as JsonObject)['index']))
  const unrecorded = [...documents.keys()].filter(index => !ranked.has(index))
  const all = [...recorded, ...unrecorded.map(index => ({ index, relevance_score: 0 }))]
  const top = body['top_n'] ?? body['top_k']
  return { ...result, [list]: typeof top === 'number' ? all.slice(0, top) : all }
}

const withIndex = (vector: Json, index: number): Json =>
  isObject(vector) && 'index' in vector ? { ...vector, index } : vector
