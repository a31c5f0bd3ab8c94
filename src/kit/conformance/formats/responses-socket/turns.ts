import type { Headers, Turns } from '../../format.ts'
import { isObject, type JsonObject, numberOf, objectOf, textOf } from '../../json.ts'

/* Frames of requests, answers and errors (docs/wire/responses.md#sockets, docs/wire/errors.md#on-sockets). */

const CREATE = 'response.create'

const LAST_EVENTS: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
  'error',
])

const headersIn = (error: JsonObject): Headers =>
  Object.fromEntries(
    Object.entries(objectOf(error['headers'])).map(([name, value]) => [name.toLowerCase(), `${value}`]),
  )

export const turns: Turns = {
  frame: ({ stream: _, ...body }) => ({ type: CREATE, ...body }),
  body: ({ type, ...body }) => (type === CREATE ? { ...body, stream: true } : undefined),
  isLast: event => LAST_EVENTS.has(textOf(event['type']) ?? ''),
  errorFrame: ({ status, headers, body }) => ({
    ...{ type: 'error', status },
    error: { ...objectOf(body['error']), ...(Object.keys(headers).length === 0 ? {} : { headers: { ...headers } }) },
  }),
  errorIn: frame => {
    const { type, status, error } = frame
    if (type !== 'error') return undefined
    const { headers: _, ...rest } = objectOf(error)
    // Error events of streams have the fields of the error next to `type`.
    const body: JsonObject = isObject(error) ? { error: rest } : frame
    return { status: numberOf(status) ?? 0, headers: headersIn(objectOf(error)), body }
  },
}
