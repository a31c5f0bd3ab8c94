import { randomBytes } from 'node:crypto'
import { unauthenticated } from '../../accounts/key-ring.ts'
import { rateLimited } from '../../canonical/error.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { hashOf } from '../../config/hash.ts'
import type { NoteKind, NoteLimits, SharedRecords } from '../../store/shared-records.ts'

/** What a client secret is good for: one session with these settings. */
export interface BoundSession {
  /** The `id` of the caller it was made for, whose key may change or end before the session begins. */
  readonly callerId: string
  readonly model: string
  /** As OpenAI's format has it. */
  readonly session: JsonObject
}

/** Secrets that are good at once, of one key and of all. */
const LIMITS: NoteLimits = { own: 1000, all: 20_000 }

const KIND: NoteKind = 'client-secret'

/** OpenAI's prefix of client secrets. */
const PREFIX = 'ek_'

export const isClientSecret = (credential: string): boolean => credential.startsWith(PREFIX)

/**
 * Makes a client secret. It is stored by its hash, so that it opens one session at any one instance, once.
 *
 * @param expiresAt Unix time in milliseconds.
 * @throws GatewayError `rate-limited` where too many are good already, `overloaded` where it cannot be stored.
 */
export async function createSecret(shared: SharedRecords, bound: BoundSession, expiresAt: number): Promise<string> {
  const value = PREFIX + randomBytes(24).toString('hex')
  const note = { kind: KIND, name: hashOf(value), owner: bound.callerId, text: JSON.stringify(bound), expiresAt }
  if (!(await shared.keepNote(note, LIMITS))) throw TOO_MANY
  return value
}

/**
 * What a client secret is good for.
 *
 * @param how `takeNote`: it is good for nothing afterwards.
 * @throws GatewayError `unauthenticated` for one that is unknown, used or expired, `overloaded` where that cannot be
 * looked up.
 */
export async function boundBy(shared: SharedRecords, value: string, how: 'note' | 'takeNote'): Promise<BoundSession> {
  const text = await shared[how](KIND, hashOf(value))
  if (text === undefined) throw UNKNOWN
  return JSON.parse(text)
}

const UNKNOWN = unauthenticated('The client secret is unknown, expired or was used before.', 'invalid_client_secret')

const TOO_MANY = rateLimited('Too many client secrets are in use.', 60, 'rate_limit_exceeded')
