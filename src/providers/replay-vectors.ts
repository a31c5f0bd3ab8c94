import { isObject, type Json, type JsonObject } from '../canonical/node.ts'

/** Where things to embed stand in a request, and their vectors in its answer. */
const PLACES = [
  { asked: 'input', answered: 'data' },
  { asked: 'requests', answered: 'embeddings' },
] as const

/** A recorded answer with as many vectors or ranks as are asked for: the recorded vectors over and over. */
export function fitted(body: JsonObject, result: JsonObject): JsonObject {
  for (const { asked, answered } of PLACES) {
    const [things, vectors] = [body[asked], result[answered]]
    if (things === undefined || !Array.isArray(vectors) || vectors.length === 0) continue
    const count = Array.isArray(things) && typeof things[0] !== 'number' ? things.length : 1
    return {
      ...result,
      [answered]: Array.from({ length: count }, (_, at) => placed(vectors[at % vectors.length]!, at)),
    }
  }
  return fittedToCohere(body, result)
}

/** Cohere's way: what is embedded stands in one of three lists, its vectors in a list for each type. */
function fittedToCohere(body: JsonObject, result: JsonObject): JsonObject {
  const things = ['texts', 'images', 'inputs'].flatMap(list => (Array.isArray(body[list]) ? body[list] : []))
  const { embeddings, texts: _, ...others } = result
  if (things.length === 0 || !isObject(embeddings)) return rankings(body, result)
  const lists = Object.entries(embeddings).map(([type, list]) => [
    type,
    Array.isArray(list) && list.length > 0 ? things.map((_, at) => list[at % list.length]!) : list,
  ])
  return { ...others, embeddings: Object.fromEntries(lists) as JsonObject }
}

/** A recorded ranking of just the documents there are: those it does not know come last. */
function rankings(body: JsonObject, result: JsonObject): JsonObject {
  const { documents } = body
  const list = ['results', 'data'].find(one => Array.isArray(result[one]))
  if (!Array.isArray(documents) || list === undefined) return result
  const known = (result[list] as readonly Json[]).filter(
    rank => isObject(rank) && typeof rank['index'] === 'number' && rank['index'] < documents.length,
  )
  const ranked = new Set(known.map(rank => (rank as JsonObject)['index']))
  const unknown = [...documents.keys()].filter(index => !ranked.has(index))
  const all = [...known, ...unknown.map(index => ({ index, relevance_score: 0 }))]
  const top = body['top_n'] ?? body['top_k']
  return { ...result, [list]: typeof top === 'number' ? all.slice(0, top) : all }
}

const placed = (vector: Json, index: number): Json =>
  isObject(vector) && 'index' in vector ? { ...vector, index } : vector
