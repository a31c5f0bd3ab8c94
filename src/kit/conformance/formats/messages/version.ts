import type { Headers } from '../../format.ts'
import { type JsonObject, listOf, objectOf } from '../../json.ts'

/* What the version of 2026-10-21 refuses, and the version before it took. */

const NEWER = '2026-10-21'

const REMOVED = ['temperature', 'top_p', 'top_k'] as const

function blockFaults(role: unknown, block: JsonObject, index: number): string[] {
  const { type, citations } = block
  if (role === 'assistant' && type === 'document') return [`Message ${index} of the assistant has a document.`]
  const isCited = role === 'user' && type === 'text' && listOf(citations).length > 0
  return isCited ? [`A text of message ${index} of the user has citations.`] : []
}

/** Fields of a request that its version refuses, and a key in the header of the version before. */
export function versionFaults(body: JsonObject, headers: Headers): string[] {
  if (headers['anthropic-version'] !== NEWER) return []
  const removed = REMOVED.filter(field => field in body).map(field => `${field} is no field of ${NEWER}.`)
  const blocks = listOf(body['messages']).flatMap((message, index) => {
    const { role, content } = objectOf(message)
    return listOf(content).flatMap(block => blockFaults(role, objectOf(block), index))
  })
  const isOldKey = headers['x-api-key'] !== undefined && headers['authorization'] === undefined
  return [...removed, ...blocks, ...(isOldKey ? ['The key comes as x-api-key instead of a Bearer token.'] : [])]
}
