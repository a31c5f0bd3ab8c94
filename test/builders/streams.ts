import { isObject, type Json, type JsonObject, parseObject } from '../../src/canonical/node.ts'
import type { WireEvent } from '../../src/canonical/wire.ts'

/** Both ways to request an answer, as rows of `each`. */
export const WAYS = [
  { way: 'whole', stream: false },
  { way: 'streamed', stream: true },
]

/** Returns a server-sent event whose data repeats its name as `type`. */
export const namedEvent = (type: string, more: JsonObject = {}) => ({
  event: type,
  data: JSON.stringify({ type, ...more }),
})

/** Returns a server-sent event with this data. The event's name is the data's type, if there is one. */
// biome-ignore lint/suspicious/noExplicitAny: tests write data of many shapes
export const eventOf = (data: any): WireEvent => ({
  data: JSON.stringify(data),
  ...(data.type ? { event: data.type } : {}),
})

/** Returns the data of events that are JSON objects. */
export const bodiesOf = (wire: readonly WireEvent[]): JsonObject[] =>
  wire.map(({ data }) => parseObject(data)).filter(event => event !== undefined)

/** Returns the objects of a list. None if it is not a list. */
export const objectsIn = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : []
