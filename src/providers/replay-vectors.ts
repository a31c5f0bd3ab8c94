import { isObject, type Json, type JsonObject } from '../canonical/node.ts'

/** Where things to embed stand in a request, and their vectors in its answer. */
const PLACES = [
  { asked: 'input', answered: 'data' },
  { asked: 'requests', answered: 'embeddings' },
] as const

/** A recorded answer with as many vectors as are asked for: the recorded ones over and over. */
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
  return result
}

const placed = (vector: Json, index: number): Json =>
  isObject(vector) && 'index' in vector ? { ...vector, index } : vector
