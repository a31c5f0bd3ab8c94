import { createHash, type Hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Part } from '../canonical/content.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { Work } from '../canonical/work.ts'

/**
 * Returns the string that identifies a request's conversation, so that its requests reach the channel that has its
 * prompt cached: the cache key, else the client's session, else the stored conversation, else a hash of the
 * conversation's beginning. The string is the same on every instance and after a restart. Two keys of the gateway never
 * share one (docs/decisions/2026-11-24-cache-affinity.md).
 *
 * @param owner id of the caller's key.
 * @returns undefined if the request belongs to no conversation.
 */
export function affinityKey(
  request: CanonicalRequest,
  work: Work,
  headers: IncomingHttpHeaders,
  owner: string,
): string | undefined {
  const key = request.cacheKey ?? sessionOf(request, headers) ?? request.state?.conversation ?? beginning(request, work)
  return key === undefined ? undefined : `${owner}\n${key}`
}

/** Headers in which clients send the id of their session: Codex (`session_id`, `session-id`), Claude Code, others. */
const SESSION_HEADERS = ['session_id', 'session-id', 'x-session-id', 'x-claude-code-session-id'] as const

/** Matches the session in Claude Code's `metadata.user_id`: at the end of a string, or a member of JSON text. */
const USER_SESSION = /(?:_session_|"session_id"\s*:\s*")([\w-]{8,64})/

/** Maximum length of a session id that is used, in characters. */
const LONGEST_SESSION = 256

function sessionOf({ endUser }: CanonicalRequest, headers: IncomingHttpHeaders): string | undefined {
  for (const name of SESSION_HEADERS) {
    const value = headers[name]
    if (typeof value === 'string' && value !== '') return value.slice(0, LONGEST_SESSION)
  }
  return endUser === undefined ? undefined : USER_SESSION.exec(endUser.slice(0, LONGEST_USER))?.[1]
}

/** Length of the part of an end user's id that is searched for a session, in characters. */
const LONGEST_USER = 1000

/** Kinds of work whose messages are the turns of a conversation. */
const CONVERSES: ReadonlySet<Work> = new Set<Work>(['conversation', 'compaction'])

/** Hashes model, tool names, instructions and the first user turn. Undefined without a user turn. */
function beginning({ model, tools = [], messages }: CanonicalRequest, work: Work): string | undefined {
  const first = messages.findIndex(({ role }) => role === 'user')
  if (first < 0 || !CONVERSES.has(work)) return undefined
  const hash = createHash('sha256')
  add(hash, model)
  for (const tool of tools) add(hash, 'name' in tool && typeof tool.name === 'string' ? tool.name : tool.type)
  for (const { role, content } of messages.slice(0, first + 1)) {
    add(hash, role)
    for (const part of content) addPart(hash, part)
  }
  return hash.digest('base64url')
}

/** Adds the text of a part. Of a part without text only the type is added. */
const addPart = (hash: Hash, part: Part): void => add(hash, part.type === 'text' ? part.text : `\0${part.type}`)

/** Number of characters at either end of a long string that are hashed, besides its length. */
const END = 2048

/** Adds a string with its length, so that neighbouring strings cannot be confused. */
function add(hash: Hash, text: string): void {
  hash.update(`${text.length}:`)
  hash.update(text.length <= 2 * END ? text : text.slice(0, END) + text.slice(-END))
}
