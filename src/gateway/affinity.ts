import { createHash, type Hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Part } from '../canonical/content.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { Work } from '../canonical/work.ts'

/** Fact that identifies the requests of one conversation. */
export type AffinitySource = 'cache-key' | 'session' | 'conversation' | 'beginning'

/** A string that identifies a conversation, and the fact that it is derived from. */
interface Affinity {
  readonly key: string
  readonly source: AffinitySource
}

/**
 * Returns the string that identifies a request's conversation, so that all its requests reach the channel with the
 * cached prompt. The string is the cache key, or else the client's session, the stored conversation or a hash of the
 * conversation's beginning. It is the same on every instance and after a restart. Two gateway keys never share a
 * string (docs/decisions/2026-11-24-cache-affinity.md).
 *
 * @param owner id of the caller's key.
 * @param sessionHeaders configured headers with a client's session id, in lower case. They take precedence over the
 * usual headers.
 * @returns undefined if the request belongs to no conversation.
 */
export function affinityOf(
  request: CanonicalRequest,
  work: Work,
  headers: IncomingHttpHeaders,
  owner: string,
  sessionHeaders: readonly string[] = [],
): Affinity | undefined {
  const affinity = (source: AffinitySource, key: string | undefined): Affinity | undefined =>
    key === undefined ? undefined : { key: `${owner}\n${shortId(key)}`, source }
  return (
    affinity('cache-key', request.cacheKey) ??
    affinity('session', sessionOf(request, headers, sessionHeaders)) ??
    affinity('conversation', request.state?.conversation) ??
    affinity('beginning', hashOfBeginning(request, work))
  )
}

/** Headers in which clients send their session id: Codex (`session_id`, `session-id`), Claude Code and others. */
const SESSION_HEADERS = ['session_id', 'session-id', 'x-session-id', 'x-claude-code-session-id'] as const

/** Matches the session in Claude Code's `metadata.user_id`: the end of a plain string, or a field of a JSON string. */
const USER_SESSION = /(?:_session_|"session_id"\s*:\s*")([\w-]{8,64})/

/** Maximum length of an id, in characters. Longer ids are hashed, because every draw reads the whole string. */
const MAX_ID_LENGTH = 256

/** Returns the id itself, or its hash if it is long. */
function shortId(id: string): string {
  if (id.length <= MAX_ID_LENGTH) return id
  const hash = createHash('sha256')
  add(hash, id)
  return hash.digest('base64url')
}

function sessionOf(
  { endUser }: CanonicalRequest,
  headers: IncomingHttpHeaders,
  configuredHeaders: readonly string[],
): string | undefined {
  for (const names of [configuredHeaders, SESSION_HEADERS])
    for (const name of names) {
      const value = headers[name]
      if (typeof value === 'string' && value !== '') return value
    }
  return endUser === undefined ? undefined : USER_SESSION.exec(endUser.slice(0, MAX_SEARCHED_LENGTH))?.[1]
}

/** Number of characters of an end user's id that are searched for a session. */
const MAX_SEARCHED_LENGTH = 1000

/** Kinds of work whose messages are the turns of a conversation. */
const CONVERSATIONAL_WORK: ReadonlySet<Work> = new Set<Work>(['conversation', 'compaction'])

/** Hashes the model, tool names, instructions and first user turn. Returns undefined if there is no user turn. */
function hashOfBeginning({ model, tools = [], messages }: CanonicalRequest, work: Work): string | undefined {
  const first = messages.findIndex(({ role }) => role === 'user')
  if (first < 0 || !CONVERSATIONAL_WORK.has(work)) return undefined
  const hash = createHash('sha256')
  add(hash, model)
  for (const tool of tools) add(hash, 'name' in tool && typeof tool.name === 'string' ? tool.name : tool.type)
  for (const { role, content } of messages.slice(0, first + 1)) {
    add(hash, role)
    for (const part of content) addPart(hash, part)
  }
  return hash.digest('base64url')
}

/** Adds the text of a part, or only the type of a part without text. */
const addPart = (hash: Hash, part: Part): void => add(hash, part.type === 'text' ? part.text : `\0${part.type}`)

/** Number of characters hashed at either end of a long string. The length is hashed as well. */
const END_LENGTH = 2048

/** Adds a string with its length, so that neighbouring strings cannot be confused. */
function add(hash: Hash, text: string): void {
  hash.update(`${text.length}:`)
  hash.update(text.length <= 2 * END_LENGTH ? text : text.slice(0, END_LENGTH) + text.slice(-END_LENGTH))
}
