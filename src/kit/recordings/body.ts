import { isUtf8 } from 'node:buffer'
import { parseExactObject } from '../../canonical/exact-numbers.ts'
import type { Json } from '../../canonical/node.ts'
import { parseJson } from '../../canonical/node.ts'
import type { RecordedBody, RecordedBytes } from './recording.ts'

const DECODER = new TextDecoder('utf-8', { ignoreBOM: true })

/** Decodes UTF-8. Returns undefined for any other bytes. */
export function textIn(bytes: Uint8Array): string | undefined {
  // A decoder that throws takes a hundred times as long, and a text with many words is decoded very often.
  return isUtf8(bytes) ? DECODER.decode(bytes) : undefined
}

/** Converts bytes to fields of a recording: text for UTF-8, otherwise base64. */
export function recordedBytes(bytes: Uint8Array): RecordedBytes {
  const text = textIn(bytes)
  return text === undefined ? { base64: Buffer.from(bytes).toString('base64') } : { text }
}

/** Returns the bytes of a recorded chunk, frame or file. */
export const bytesOf = ({ text, base64 }: RecordedBytes): Buffer =>
  text === undefined ? Buffer.from(base64 ?? '', 'base64') : Buffer.from(text)

/** Indents with which JSON bodies may have been written, in spaces. OpenAI and Google indent by two. */
const INDENTS = [undefined, 2, 4] as const

/** Converts a body to the most readable form that restores the same bytes. Returns undefined for an empty body. */
export function recordedBody(bytes: Uint8Array): RecordedBody | undefined {
  if (bytes.length === 0) return undefined
  const text = textIn(bytes)
  const json = text === undefined || !/^\s*[[{]/.test(text) ? undefined : parseJson(text)
  if (json === undefined) return recordedBytes(bytes)
  const indent = INDENTS.find(spaces => JSON.stringify(json, undefined, spaces) === text)
  if (indent !== undefined) return { json, indent }
  return JSON.stringify(json) === text ? { json } : { text: text! }
}

/** Returns the bytes of a recorded body, which are empty for a form because its boundary was not recorded. */
export function bodyBytes(body: RecordedBody | undefined): Buffer {
  if (body === undefined || body.form !== undefined) return Buffer.alloc(0)
  return body.json === undefined ? bytesOf(body) : Buffer.from(JSON.stringify(body.json, undefined, body.indent))
}

/** Returns the JSON value of a recorded body, or undefined if the body is not JSON. */
export function jsonIn(body: RecordedBody | undefined): Json | undefined {
  if (body?.json !== undefined) return body.json as Json
  return body?.text === undefined ? undefined : (parseExactObject(body.text) ?? parseJson(body.text))
}
