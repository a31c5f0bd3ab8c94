import { isObject, type JsonObject, parseJson, textOf } from '../json.ts'

/** One message as received or sent. */
export interface Frame {
  readonly text: string
  /** JSON object in the text, or undefined if the text is not a JSON object. */
  readonly data: JsonObject | undefined
}

/** Code and reason of the close frame. The code is 1006 if the connection closed without a close frame. */
export interface Closing {
  readonly code: number
  readonly reason: string
}

export const frameOf = (text: string): Frame => {
  const data = parseJson(text)
  return { text, data: isObject(data) ? data : undefined }
}

export const frameWith = (data: JsonObject): Frame => ({ text: JSON.stringify(data), data })

/** Returns the JSON objects in frames. Leaves out other frames. */
export const dataOf = (frames: readonly Frame[]): JsonObject[] =>
  frames.flatMap(({ data }) => (data === undefined ? [] : [data]))

/** Returns the `type` of an event, or an empty string. */
export const typeOf = (data: JsonObject | undefined): string => textOf(data?.['type']) ?? ''
