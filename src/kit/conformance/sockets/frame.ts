import { isObject, type JsonObject, parsed, textOf } from '../json.ts'

/* Frames of a session over a WebSocket. */

/** One message as received or sent. */
export interface Frame {
  readonly text: string
  /** JSON object in the text. Undefined if the text is not one. */
  readonly data: JsonObject | undefined
}

/** The close of a connection: the code and reason of the close frame; 1006 if there was none. */
export interface Closing {
  readonly code: number
  readonly reason: string
}

export const frameOf = (text: string): Frame => {
  const data = parsed(text)
  return { text, data: isObject(data) ? data : undefined }
}

export const frameWith = (data: JsonObject): Frame => ({ text: JSON.stringify(data), data })

/** Returns the JSON objects of frames. Frames without one are left out. */
export const dataOf = (frames: readonly Frame[]): JsonObject[] =>
  frames.flatMap(({ data }) => (data === undefined ? [] : [data]))

/** Returns the `type` of an event. An empty string if it has none. */
export const typeOf = (data: JsonObject | undefined): string => textOf(data?.['type']) ?? ''
