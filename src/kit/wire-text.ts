import { BufferedBytes } from '../canonical/bytes.ts'
import type { Part } from '../canonical/content.ts'
import { invalid } from '../canonical/error.ts'
import { parseExactly } from '../canonical/exact-numbers.ts'
import { type Format, isObject, type Json, type JsonObject } from '../canonical/node.ts'
import type { CanonicalRequest, Message } from '../canonical/request.ts'
import type { WireFile, WireRequest } from '../canonical/wire.ts'
import { WRITERS } from '../egress/index.ts'
import type { WriteOptions } from '../egress/writer.ts'
import { familyDialect } from '../formats/index.ts'
import { pathFor } from '../formats/routes.ts'

/**
 * Parses the JSON text of an object.
 *
 * @throws GatewayError `invalid-request` for any other text.
 */
export function jsonOf(text: string): JsonObject {
  let value: Json
  try {
    value = parseExactly(text)
  } catch (thrown) {
    throw invalid(`The text is not JSON: ${(thrown as Error).message}`)
  }
  if (isObject(value)) return value
  throw invalid('The text is not a JSON object.')
}

/** Converts JSON to a request. A body without a path gets the default path of its format. */
export function wireRequestOf(value: JsonObject, format: Format, model = 'model'): WireRequest {
  if (typeof value['path'] !== 'string' || !isObject(value['body']))
    return { path: pathFor(format, model, value), query: {}, headers: {}, body: value }
  const { path, body, files, ...rest } = value as JsonObject & Pick<WireRequest, 'path' | 'body'>
  const form = Array.isArray(files) ? { files: files.filter(isObject).map(fileOf) } : {}
  return { query: {}, headers: {}, ...(rest as Partial<WireRequest>), path, body, ...form }
}

/** Converts a file whose bytes are base64. */
const fileOf = ({ field, name, mediaType, bytes }: JsonObject): WireFile => ({
  field: String(field),
  ...(name === undefined ? {} : { name: String(name) }),
  mediaType: String(mediaType),
  bytes: new BufferedBytes(Buffer.from(String(bytes), 'base64')),
})

/** Prepares a request for a writer as the gateway does. Bytes become base64 for formats without raw bytes. */
export function preparedFor(format: Format, request: CanonicalRequest): CanonicalRequest {
  if (WRITERS[format]?.bytes !== undefined || !request.messages.some(hasBytes)) return request
  return { ...request, messages: request.messages.map(one => ({ ...one, content: one.content.map(inBase64) })) }
}

const hasBytes = ({ content }: Message): boolean =>
  content.some(part => part.type === 'media' && part.source.type === 'bytes')

function inBase64(part: Part): Part {
  if (part.type !== 'media' || part.source.type !== 'bytes' || !(part.source.bytes instanceof BufferedBytes))
    return part
  const { mediaType, bytes } = part.source
  return { ...part, source: { type: 'base64', mediaType, data: bytes.toJSON() } }
}

/**
 * Returns the options for writing a request of one format for an upstream of another, with the dialect of the model's
 * family.
 */
export const writeOptionsFor = (from: Format, to: Format, model: string): WriteOptions => ({
  dialect: (from === to ? undefined : familyDialect(to, model)) ?? {},
  native: from === to,
})
