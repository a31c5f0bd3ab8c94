import { createHash, type Hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Part } from '../canonical/content.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { Work } from '../canonical/work.ts'

/** Fact by which the requests of a conversation are recognised. */
export type AffinitySource = 'cache-key' | 'session' | 'conversation' | 'beginning'

/** The string that identifies a conversation, and the fact from which it was made. */
interface Affinity {
  readonly key: string
  readonly by: AffinitySource
}

/**
 * Returns the string that identifies a request's conversation, so that its requests reach the channel that has its
 * prompt cached: the cache key, else the client's session, else the stored conversation, else a hash of the
 * conversation's beginning. The string is the same on every instance and after a restart. Two keys of the gateway never
 * share one (docs/decisions/2026-11-24-cache-affinity.md).
 *
 * @param owner id of the caller's key.
 * @param sessionHeaders headers of the config that name a client's session, in lower case. They come before the usual.
 * @returns undefined if the request belongs to no conversation.
 */
export function affinityOf(
  request: CanonicalRequest,
  work: Work,
  headers: IncomingHttpHeaders,
  owner: string,
  sessionHeaders: readonly string[] = [],
): Affinity | undefined {
  const made = (by: AffinitySource, key: string | undefined): Affinity | undefined =>
    key === undefined ? undefined : { key: `${owner}\n${shortened(key)}`, by }
  return (
    made('cache-key', request.cacheKey) ??
    made('session', sessionOf(request, headers, sessionHeaders)) ??
    made('conversation', request.state?.conversation) ??
    made('beginning', beginning(request, work))
  )
}

/** Headers in which clients send the id of their session: Codex (`session_id`, `session-id`), Claude Code, others. */
const SESSION_HEADERS = ['session_id', 'session-id', 'x-session-id', 'x-claude-code-session-id'] as const

/** Matches the session in Claude Code's `metadata.user_id`: at the end of a string, or a member of JSON text. */
const USER_SESSION = /(?:_session_|"session_id"\s*:\s*")([\w-]{8,64})/

/** Length from which a client's id is replaced by its hash, in characters. Every draw reads the whole string. */
const LONGEST_ID = 256

/** Returns an id, or the hash of a long one. */
function shortened(id: string): string {
  if (id.length <= LONGEST_ID) return id
  const hash = createHash('sha256')
  add(hash, id)
  return hash.digest('base64url')
}

function sessionOf(
  { endUser }: CanonicalRequest,
  headers: IncomingHttpHeaders,
  configured: readonly string[],
): string | undefined {
  for (const names of [configured, SESSION_HEADERS])
    for (const name of names) {
      const value = headers[name]
      if (typeof value === 'string' && value !== '') return value
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
