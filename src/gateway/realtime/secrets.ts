import { randomBytes } from 'node:crypto'
import type { Caller } from '../../access/index.ts'
import { GatewayError } from '../../canonical/error.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { SessionSettings } from '../../canonical/session.ts'
import { hashOf } from '../../config/hash.ts'

/** What a client secret is good for: one session with these settings. */
export interface BoundSession {
  readonly caller: Caller
  readonly model: string
  readonly settings: SessionSettings
  /** The same as OpenAI's format has it. */
  readonly session: JsonObject
  /** Unix time in milliseconds. */
  readonly expiresAt: number
}

/** Secrets that are good at once, of one key and of all. */
const MOST_OF_KEY = 1000
const MOST = 20_000

/** OpenAI's prefix of client secrets. */
const PREFIX = 'ek_'

export const isClientSecret = (credential: string): boolean => credential.startsWith(PREFIX)

/** Client secrets of this process, kept by their hashes. Each opens one session, once. */
export class ClientSecrets {
  private readonly byHash = new Map<string, BoundSession>()

  /** @throws GatewayError `rate-limited` where too many are good already. */
  create(bound: BoundSession): string {
    this.sweep()
    let own = 0
    for (const { caller } of this.byHash.values()) if (caller.id === bound.caller.id) own++
    if (own >= MOST_OF_KEY || this.byHash.size >= MOST) throw TOO_MANY
    const value = PREFIX + randomBytes(24).toString('hex')
    this.byHash.set(hashOf(value), bound)
    return value
  }

  /**
   * What a secret is good for; with `take` it is good for nothing afterwards.
   *
   * @throws GatewayError `unauthenticated` for one that is unknown, used or expired.
   */
  find(value: string): BoundSession {
    const bound = this.byHash.get(hashOf(value))
    if (bound === undefined || bound.expiresAt <= Date.now()) throw UNKNOWN
    return bound
  }

  take(value: string): BoundSession {
    const bound = this.find(value)
    this.byHash.delete(hashOf(value))
    return bound
  }

  private sweep(): void {
    const now = Date.now()
    for (const [hash, { expiresAt }] of this.byHash) if (expiresAt <= now) this.byHash.delete(hash)
  }
}

const UNKNOWN = new GatewayError({
  kind: 'unauthenticated',
  code: 'invalid_client_secret',
  message: 'The client secret is unknown, expired or was used before.',
})

const TOO_MANY = new GatewayError({
  kind: 'rate-limited',
  code: 'rate_limit_exceeded',
  message: 'Too many client secrets are in use.',
  retryAfterSeconds: 60,
})
