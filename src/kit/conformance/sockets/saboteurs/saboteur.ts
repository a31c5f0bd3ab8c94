import type { Headers } from '../../format.ts'
import { type JsonObject, objectOf } from '../../json.ts'
import { frameOf, typeOf } from '../frame.ts'
import type { FrameMeddling, RelayedFrames } from '../relay.ts'

/** A fault in the frames between the caller and a correct target, and the checks that must detect it. */
export interface SessionSaboteur {
  readonly name: string
  /** Description of the fault in one sentence. */
  readonly says: string
  /** Cell in which the fault is tested. */
  readonly cell: string
  /** Rules of the checks that must fail in that cell. No other check may fail. */
  readonly caught: readonly string[]
  /** Creates the function that changes the frames of one session. */
  readonly meddling?: () => FrameMeddling
  /** Changes the answer to a request for a client secret. */
  readonly secret?: (answer: JsonObject) => JsonObject
  /** Changes the headers of the handshake. */
  readonly headers?: (headers: Headers) => Headers
}

export type Change = (data: JsonObject) => readonly JsonObject[]

/** Changes frames of one type. Other frames are passed on unchanged. */
export const where =
  (type: string, change: Change): ((text: string) => RelayedFrames) =>
  text => {
    const { data } = frameOf(text)
    return typeOf(data) === type ? change(objectOf(data)).map(one => JSON.stringify(one)) : [text]
  }

/** Changes the first frame of a type. Other frames are passed on unchanged. */
export function first(type: string, change: Change): (text: string) => RelayedFrames {
  let isDone = false
  return where(type, data => {
    if (isDone) return [data]
    isDone = true
    return change(data)
  })
}

/** Changes fields in one object of a frame. */
export const within = (data: JsonObject, name: string, fields: JsonObject): JsonObject => ({
  ...data,
  [name]: { ...objectOf(data[name]), ...fields },
})
