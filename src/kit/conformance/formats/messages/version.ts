import type { Headers, Versions } from '../../format.ts'
import { isObject, type Json, type JsonObject, listOf, objectOf } from '../../json.ts'

/* The two versions of the format. The newer one refuses some fields that the older one accepts. */

const OLDER_VERSION = '2023-06-01'
const NEWER_VERSION = '2026-10-21'

const REMOVED_FIELDS: readonly string[] = ['temperature', 'top_p', 'top_k']

const isDocument = (role: Json | undefined, { type }: JsonObject): boolean =>
  role === 'assistant' && type === 'document'

const isCited = (role: Json | undefined, { type, citations }: JsonObject): boolean =>
  role === 'user' && type === 'text' && listOf(citations).length > 0

function blockFaults(role: Json | undefined, block: JsonObject, index: number): string[] {
  if (isDocument(role, block)) return [`Assistant message ${index} has a document.`]
  return isCited(role, block) ? [`A text in user message ${index} has citations.`] : []
}

/** Returns true if a request of the newer version sends its key in the header of the older version. */
export const hasOlderKey = (headers: Headers): boolean =>
  headers['anthropic-version'] === NEWER_VERSION &&
  headers['x-api-key'] !== undefined &&
  headers['authorization'] === undefined

/** Returns the fields of a request that its version refuses. */
export function versionFaults(body: JsonObject, headers: Headers): string[] {
  if (headers['anthropic-version'] !== NEWER_VERSION) return []
  const removed = REMOVED_FIELDS.filter(field => field in body).map(
    field => `${field} is not a field of ${NEWER_VERSION}.`,
  )
  const blocks = listOf(body['messages']).flatMap((message, index) => {
    const { role, content } = objectOf(message)
    return listOf(content).flatMap(block => blockFaults(role, objectOf(block), index))
  })
  return [...removed, ...blocks]
}

function allowedBlock(role: Json | undefined, block: Json): Json[] {
  if (!isObject(block)) return [block]
  if (isDocument(role, block)) return []
  const { citations: _, ...uncited } = block
  return [isCited(role, block) ? uncited : block]
}

function allowedMessage(message: Json): Json {
  const { role, content } = objectOf(message)
  if (!Array.isArray(content)) return message
  return { ...objectOf(message), content: content.flatMap(block => allowedBlock(role, block)) }
}

/** Returns a request without the fields that the newer version refuses. */
function withoutRefused(body: JsonObject): JsonObject {
  const remaining = Object.fromEntries(Object.entries(body).filter(([field]) => !REMOVED_FIELDS.includes(field)))
  return Array.isArray(body['messages']) ? { ...remaining, messages: body['messages'].map(allowedMessage) } : remaining
}

/** The versions of the format. Clients of the newer version send their key as a Bearer token. */
export const versions: Versions = {
  names: [OLDER_VERSION, NEWER_VERSION],
  headers: (version, key) => ({
    ...(version === NEWER_VERSION ? { authorization: `Bearer ${key}` } : { 'x-api-key': key }),
    'anthropic-version': version,
  }),
  versionOf: headers => headers['anthropic-version'],
  allowed: (version, body) => (version === NEWER_VERSION ? withoutRefused(body) : body),
  refusal: {
    type: 'error',
    error: { type: 'invalid_request_error', message: `The request uses a feature that ${NEWER_VERSION} refuses.` },
  },
}
