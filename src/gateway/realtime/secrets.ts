import { randomBytes } from 'node:crypto'
import { unauthenticated } from '../../accounts/key-ring.ts'
import { rateLimited } from '../../canonical/error.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { hashOf } from '../../config/hash.ts'
import type { NoteKind, NoteLimits, SharedRecords } from '../../store/shared-records.ts'

/** The session that a client secret permits. */
export interface SecretSession {
  /** `id` of the caller who requested the secret. The caller's key may change or expire before the session starts. */
  readonly callerId: string
  /** Undefined if the address of the session names the model. */
  readonly model?: string
  /** Session settings in OpenAI's format. */
  readonly session: JsonObject
}

/** Maximum number of valid client secrets, per key and in total. */
const SECRET_LIMITS: NoteLimits = { perOwner: 1000, total: 20_000 }

const SECRET_KIND: NoteKind = 'client-secret'

/** OpenAI's prefix of client secrets. */
const PREFIX = 'ek_'

/** Returns true if a credential has the form of a client secret. */
export const isClientSecret = (credential: string): boolean => credential.startsWith(PREFIX)

/**
 * Creates a client secret. Only its hash is stored. The secret opens one session, on any instance.
 *
 * @param expiresAt Unix time in milliseconds.
 * @throws GatewayError `rate-limited` if too many secrets are valid, `overloaded` if the secret cannot be stored.
 */
export async function createSecret(shared: SharedRecords, session: SecretSession, expiresAt: number): Promise<string> {
  const value = PREFIX + randomBytes(24).toString('hex')
  const note = {
    kind: SECRET_KIND,
    name: hashOf(value),
    owner: session.callerId,
    text: JSON.stringify(session),
    expiresAt,
  }
  if (!(await shared.addNote(note, SECRET_LIMITS))) throw TOO_MANY
  return value
}

/**
 * Returns the settings of a client secret.
 *
 * @param method method that reads the secret. `takeNote` also invalidates it.
 * @throws GatewayError `unauthenticated` if the secret is unknown, used or expired, `overloaded` if the store cannot be
 * read.
 */
export async function boundBy(
  shared: SharedRecords,
  value: string,
  method: 'note' | 'takeNote',
): Promise<SecretSession> {
  const text = await shared[method](SECRET_KIND, hashOf(value))
  if (text === undefined) throw UNKNOWN_SECRET
  return JSON.parse(text)
}

const UNKNOWN_SECRET = unauthenticated(
  'The client secret is unknown, expired or already used.',
  'invalid_client_secret',
)

const TOO_MANY = rateLimited('Too many client secrets are in use.', 60, 'rate_limit_exceeded')
