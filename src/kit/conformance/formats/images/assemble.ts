import { isObject, type Json, type JsonObject, objectOf, textOf } from '../../json.ts'

/* Assembles the events of a stream into a whole answer. Source: https://platform.openai.com/docs/api-reference/images-streaming */

/** Fields that apply to every image of an answer. */
const SHARED_FIELDS = ['background', 'output_format', 'quality', 'size'] as const

/** Adds two usages. Each completed event only counts its own image. */
function sumOf(left: JsonObject, right: JsonObject): JsonObject {
  const sum: { [field: string]: Json } = { ...left }
  for (const [field, value] of Object.entries(right)) {
    const before = sum[field]
    if (typeof value === 'number' && typeof before === 'number') sum[field] = before + value
    else sum[field] = isObject(value) ? sumOf(objectOf(before), value) : value
  }
  return sum
}

/** Assembles the events of a stream into a whole answer. The partial images become `previews`. */
export function assemble(events: readonly Json[]): JsonObject {
  const answer: { [field: string]: Json } = {}
  const data: JsonObject[] = []
  const previews: JsonObject[] = []
  for (const event of events.map(objectOf)) {
    const type = textOf(event['type']) ?? ''
    if (type.endsWith('.partial_image')) previews.push(event)
    if (!type.endsWith('.completed')) continue
    data.push(compactImage(event))
    for (const field of SHARED_FIELDS) if (event[field] !== undefined) answer[field] ??= event[field]
    if (event['created_at'] !== undefined) answer['created'] ??= event['created_at']
    if (isObject(event['usage'])) answer['usage'] = sumOf(objectOf(answer['usage']), event['usage'])
  }
  return { ...answer, data, ...(previews.length > 0 ? { previews } : {}) }
}

const compactImage = ({ b64_json: base64, url }: JsonObject): JsonObject => ({
  ...(base64 === undefined ? {} : { b64_json: base64 }),
  ...(url === undefined ? {} : { url }),
})
