import { isObject, type Json, type JsonObject, parseObject } from '../../src/canonical/node.ts'
import type { WireEvent } from '../../src/canonical/wire.ts'

/** Both ways to request an answer, as rows of `each`. */
export const WAYS = [
  { way: 'whole', stream: false },
  { way: 'streamed', stream: true },
]

/** A server-sent event whose data repeats its name as `type`. */
export const namedEvent = (type: string, more: JsonObject = {}) => ({
  event: type,
  data: JSON.stringify({ type, ...more }),
})

/** A server-sent event of some data, named by the data's type if that has one. */
// biome-ignore lint/suspicious/noExplicitAny: tests write data of many shapes
export const eventOf = (data: any): WireEvent => ({
  data: JSON.stringify(data),
  ...(data.type ? { event: data.type } : {}),
})

/** The data of events that are JSON objects. */
export const bodiesOf = (wire: readonly WireEvent[]): JsonObject[] =>
  wire.map(({ data }) => parseObject(data)).filter(event => event !== undefined)

/** The objects of a list, or none. */
export const objectsIn = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : []
