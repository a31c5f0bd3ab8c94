import { isObject, type JsonObject, parseObject } from '../canonical/node.ts'

/** What a response repeats of its request, and says where that says nothing of it. */
const REPEATED: JsonObject = { tools: [], tool_choice: 'auto', store: true, previous_response_id: null }

const repeated = (asked: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(REPEATED).map(([field, usual]) => [field, asked[field] ?? usual]))

/** A recorded answer, where it is a response, with what a live upstream repeats of its request. */
export const repeatingResponse = (asked: JsonObject, result: JsonObject): JsonObject =>
  result['object'] === 'response' ? { ...result, ...repeated(asked) } : result

/** The text of a recorded stream of a response, likewise. */
export function repeatingEvents(asked: JsonObject, events: string): string {
  const said = repeated(asked)
  return events.replaceAll(/^data: ?(.*"response".*)$/gm, (line, data: string) => {
    const event = parseObject(data)
    const response = event?.['response']
    return isObject(response) ? `data: ${JSON.stringify({ ...event, response: { ...response, ...said } })}` : line
  })
}
