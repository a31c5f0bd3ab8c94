import { isObject, type JsonObject, parseObject } from '../../canonical/node.ts'

/** Fields of a request that a response repeats, with their defaults. */
const REPEATED: JsonObject = {
  ...{ tools: [], tool_choice: 'auto', store: true, previous_response_id: null },
  instructions: null,
}

const repeated = (request: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(REPEATED).map(([field, usual]) => [field, request[field] ?? usual]))

/** A recorded answer, where it is a response, with what a live upstream repeats of its request. */
export const repeatingResponse = (request: JsonObject, result: JsonObject): JsonObject =>
  result['object'] === 'response' ? { ...result, ...repeated(request) } : result

/** The text of a recorded stream of a response, likewise. */
export function repeatingEvents(request: JsonObject, events: string): string {
  const echo = repeated(request)
  return events.replaceAll(/^data: ?(.*"response".*)$/gm, (line, data: string) => {
    const event = parseObject(data)
    const response = event?.['response']
    return isObject(response) ? `data: ${JSON.stringify({ ...event, response: { ...response, ...echo } })}` : line
  })
}
