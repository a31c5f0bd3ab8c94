import { isObject, type JsonObject, parseObject } from '../../canonical/node.ts'

/** Request fields that a response repeats, with their defaults. */
const REPEATED: JsonObject = {
  ...{ tools: [], tool_choice: 'auto', store: true, previous_response_id: null },
  instructions: null,
}

const repeated = (request: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(REPEATED).map(([field, usual]) => [field, request[field] ?? usual]))

/**
 * Adds the fields that a live upstream repeats from its request to a recorded response; any other answer passes
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
