import { isObject, type Json, type JsonObject, parseObject } from '../../canonical/node.ts'

/** Request field of the inputs to embed, and answer field of their vectors. */
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

/** Does the same for Cohere's form: inputs are in one of three lists, vectors in one list per type. */
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

/** Limits a recorded ranking to the documents of the request. Documents that were not recorded come last. */
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

const TIMES = { word: 'words', segment: 'segments' } as const

/** Removes the times that were not requested from a verbose transcript. Segments are the default. */
export function timed(body: JsonObject, result: JsonObject): JsonObject {
  if (body['response_format'] !== 'verbose_json' || !isObject(result)) return result
  const granularities = [body['timestamp_granularities[]'], body['timestamp_granularities']].flat()
  const wanted = Object.keys(TIMES).filter(one => granularities.includes(one))
  const dropped = Object.entries(TIMES)
    .filter(([one]) => !(wanted.length === 0 ? ['segment'] : wanted).includes(one))
    .map(([, field]) => field as string)
  return Object.fromEntries(Object.entries(result).filter(([field]) => !dropped.includes(field)))
}

/** Request fields that a response repeats, with their defaults. */
const REPEATED: JsonObject = {
  ...{ tools: [], tool_choice: 'auto', store: true, previous_response_id: null },
  instructions: null,
}

const repeated = (request: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(REPEATED).map(([field, usual]) => [field, request[field] ?? usual]))

/**
 * Adds the fields that a live upstream repeats from its request to a recorded response. Any other answer passes
 * unchanged.
 */
export const repeatingResponse = (request: JsonObject, result: JsonObject): JsonObject =>
  result['object'] === 'response' ? { ...result, ...repeated(request) } : result

/** Adds the repeated fields to the events of a recorded stream. */
export function repeatingEvents(request: JsonObject, events: string): string {
  const echo = repeated(request)
  return events.replaceAll(/^data: ?(.*"response".*)$/gm, (line, data: string) => {
    const event = parseObject(data)
    const response = event?.['response']
    return isObject(response) ? `data: ${JSON.stringify({ ...event, response: { ...response, ...echo } })}` : line
  })
}
