import type { MediaPart, Part } from '../../canonical/content.ts'
import { rowOf } from '../../canonical/maps.ts'
import { sourceOfUrl } from '../../canonical/media/data-url.ts'
import { sniffBase64 } from '../../canonical/media/sniff.ts'
import { isObject, type Json, type JsonObject, withWireSource } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import type { BodyFields } from '../body-fields.ts'
import { readOrExplain } from '../errors/validation-error.ts'
import { count, defined, extrasOf, flag, isFlag, list, required, text, texts, WrongType } from '../fields.ts'
import { type Locate, locator } from '../locate.ts'
import * as wire from './wire.ts'

export const FORMAT = 'rerank'

/** Vendor whose answer shape the caller expects. Three vendors use the same path. */
type Style = 'jina' | 'cohere' | 'voyage'

/**
 * Reads the body of `POST /v1/rerank` (docs/wire/rerank.md#request).
 *
 * @throws GatewayError `invalid-request` naming the field at fault.
 */
export const readRequest = (incoming: WireRequest): CanonicalRequest =>
  readOrExplain(wire.request, incoming.body, () => withWireSource(readBody(incoming), FORMAT, incoming))

const KNOWN_FIELDS = new Set(['model', 'query', 'documents', 'top_n', 'top_k', 'return_documents', 'rank_fields'])

function readBody({ body, headers }: WireRequest): CanonicalRequest {
  const style = styleOf(headers, body)
  const fields = texts(body['rank_fields'])
  const documents = required(list(body['documents']))
  if (documents.length === 0) throw WrongType.instance
  const usual = count(body['top_n'])
  const other = count(body['top_k'])
  const echo = readFlag(body['return_documents'])
  return {
    model: required(text(body['model'])),
    messages: documents.map(document => ({ role: 'user', content: readDocument(document, fields) })),
    output: {
      ranking: {
        query: required(text(body['query'])),
        ...defined({ top: usual ?? other }),
        echo: echo ?? style === 'jina',
      },
    },
    sampling: {},
    stream: false,
    ...extrasOf(FORMAT, body, KNOWN_FIELDS, usual === undefined ? [] : ['top_k']),
    spelling: { [FORMAT]: { style, ...(COUNTING_CLIENTS.test(headers['user-agent'] ?? '') ? { counts: 'all' } : {}) } },
  }
}

/** Reads a boolean or its text. */
const readFlag = (value: Json | undefined): boolean | undefined =>
  typeof value === 'string' && isFlag(value) ? value.toLowerCase() === 'true' : flag(value)

/** Matches the AI SDK's provider for Together, which refuses an answer without all of Together's counts. */
const COUNTING_CLIENTS = /\bai-sdk\/togetherai\b/

/**
 * Detects the vendor. Clients of Cohere and Voyage identify themselves, and only Voyage's clients send `top_k`. Any
 * other client gets Jina's shape, which includes the documents unless the request turns this off
 * (docs/wire/rerank.md#request).
 */
function styleOf(headers: WireRequest['headers'], body: JsonObject): Style {
  const client = headers['x-fern-sdk-name'] ?? headers['user-agent'] ?? ''
  if (/^cohere\b/i.test(client)) return 'cohere'
  const isVoyage = /^voyage/i.test(client) || Object.hasOwn(body, 'top_k') || isVoyageOfAiSdk(client, body)
  return isVoyage ? 'voyage' : 'jina'
}

/** Returns true for the AI SDK's provider for Voyage, which omits `top_k` if all documents are wanted. */
const isVoyageOfAiSdk = (client: string, body: JsonObject): boolean =>
  /\bai-sdk\//.test(client) && Object.hasOwn(body, 'truncation') && !Object.hasOwn(body, 'top_n')

/** Fields by which documents are ranked, in order. Undefined for the text, or all fields if a document has none. */
type Fields = readonly string[] | undefined

/**
 * Reads a document as parts: a text part for each ranked field, in order, and the image. Other fields do not affect the
 * ranking and remain only in the recorded source. Together and the AI SDK rank objects without a text by all fields
 * (docs/wire/rerank.md#request).
 */
export function readDocument(wire: Json, fields?: Fields): readonly Part[] {
  if (typeof wire === 'string') return [{ type: 'text', text: wire }]
  if (!isObject(wire)) throw WrongType.instance
  const plain = text(wire['text'])
  const image = text(wire['image'])
  const otherFields = image === undefined ? Object.keys(wire) : []
  const ranked = new Set(fields ?? (plain === undefined ? otherFields : ['text']))
  const hasImage = image !== undefined && !ranked.has('image')
  const parts = [
    ...[...ranked].flatMap(field => textsOf(rowOf(wire, field))).map((text): Part => ({ type: 'text', text })),
    ...(hasImage ? [readImage(image)] : []),
  ]
  if (parts.length === 0) parts.push({ type: 'text', text: '' })
  return parts.map(part => withWireSource(part, FORMAT, wire))
}

/** Returns the texts and numbers in the value of a ranked field. */
function textsOf(value: Json | undefined): readonly string[] {
  if (value == null) return []
  return typeof value === 'object' ? Object.values(value).flatMap(textsOf) : [String(value)]
}

/** Reads an image: a URL, or plain base64, whose media type is detected from the bytes. */
function readImage(value: string): MediaPart {
  if (/^[a-z][a-z0-9+.-]*:/i.test(value)) return { type: 'media', kind: 'image', source: sourceOfUrl(value) }
  const mediaType = sniffBase64(value) ?? 'image/jpeg'
  return { type: 'media', kind: 'image', source: { type: 'base64', mediaType, data: value } }
}

/** The body fields of the request's settings. */
export const BODY_FIELDS: BodyFields = {
  'output/ranking': ['documents'],
  'output/ranking/query': ['query'],
  'output/ranking/top': ['top_n', 'top_k'],
  'output/ranking/echo': ['return_documents'],
}

/** Locates the documents in the body. */
export const locate = ({ messages }: CanonicalRequest): Locate =>
  locator(
    'documents',
    messages.map(({ content }, index) => ({
      at: ['documents', index],
      parts: content.map(() => ['documents', index]),
    })),
    ['documents'],
  )
