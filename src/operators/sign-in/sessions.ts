import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { hashOf } from '../../config/hash.ts'
import type { ConsoleConfig } from '../../config/types.ts'
import type { ConsoleRecords, ConsoleUser } from '../../store/console-records.ts'
import { cookieIn, written } from './cookies.ts'
import { csrfOf, isOwnRequest } from './csrf.ts'

const COOKIE = 'interlingua_session'
const TOKEN_BYTES = 32
const TOKEN = /^[\w-]{43}$/
/** Sessions a user may have; the oldest end for new ones. */
const MOST = 50
/** Milliseconds after which the use of a session is stored again. */
const NOTED = 60_000

/** Where sessions are, and what they follow. */
export interface SessionParts {
  readonly records: ConsoleRecords
  /** Undefined where there is no console. */
  readonly config: () => ConsoleConfig | undefined
  /** Whether a request came by TLS. */
  readonly isSecure: (message: IncomingMessage) => boolean
}

/** A session of a request. */
export interface OpenSession {
  readonly user: ConsoleUser
  /** Its token, which is in the cookie and nowhere else. */
  readonly token: string
  readonly hash: string
  /** Unix time in milliseconds. */
  readonly expiresAt: number
}

/** Sessions of users in browsers: a random token in a cookie, of which the store has the hash. */
export class Sessions {
  private readonly parts: SessionParts

  constructor(parts: SessionParts) {
    this.parts = parts
  }

  /** The session of a request's cookie; undefined where there is none that is valid. Rejects where the store cannot be asked. */
  async of(message: IncomingMessage): Promise<OpenSession | undefined> {
    const config = this.parts.config()
    const token = this.tokenIn(message)
    if (config === undefined || token === undefined) return undefined
    const now = Date.now()
    const hash = hashOf(token)
    const { user, session } = (await this.parts.records.session(hash)) ?? {}
    if (user === undefined || session === undefined) return undefined
    // A config that was made stricter counts for sessions that there are.
    const expiresAt = Math.min(session.expiresAt, session.createdAt + config.session)
    if (expiresAt <= now || session.usedAt + config.idle <= now) return undefined
    if (now - session.usedAt >= Math.min(NOTED, config.idle / 4)) await this.used(hash, now)
    return { user, token, hash, expiresAt }
  }

  /** The same, of a request that may change something: undefined also where another page may have made it. */
  isOwn(message: IncomingMessage, session: OpenSession): boolean {
    return isOwnRequest(message, session.token)
  }

  /**
   * Begins a session, always with a token of its own; the one that the request had before ends.
   *
   * @param user as it was when the password was checked.
   * @returns undefined where the user was disabled or given another password meanwhile.
   */
  async begin(user: ConsoleUser, message: IncomingMessage): Promise<OpenSession | undefined> {
    const { records } = this.parts
    const token = randomBytes(TOKEN_BYTES).toString('base64url')
    const hash = hashOf(token)
    const now = Date.now()
    const expiresAt = now + this.parts.config()!.session
    const session = { hash, user: user.name, createdAt: now, usedAt: now, expiresAt }
    if (!(await records.openSession(session, user.password, MOST))) return undefined
    await this.end(message)
    return { user, token, hash, expiresAt }
  }

  /** Ends the session of a request's cookie, if any. */
  async end(message: IncomingMessage): Promise<void> {
    const token = this.tokenIn(message)
    if (token !== undefined) await this.parts.records.endSession(hashOf(token))
  }

  /** The `set-cookie` header that gives a browser its session. */
  cookie({ token, expiresAt }: OpenSession, message: IncomingMessage): string {
    const maxAge = Math.max(1, Math.round((expiresAt - Date.now()) / 1000))
    return written({ name: COOKIE, value: token, maxAge, sameSite: 'Strict' }, this.parts.isSecure(message))
  }

  /** The one that takes it away. */
  noCookie(message: IncomingMessage): string {
    return written({ name: COOKIE, value: '', maxAge: 0, sameSite: 'Strict' }, this.parts.isSecure(message))
  }

  csrf({ token }: OpenSession): string {
    return csrfOf(token)
  }

  private tokenIn(message: IncomingMessage): string | undefined {
    const token = cookieIn(message, COOKIE, this.parts.isSecure(message))
    return token !== undefined && TOKEN.test(token) ? token : undefined
  }

  /** A store that takes nothing can still be read: whoever is signed in stays so. */
  private async used(hash: string, now: number): Promise<void> {
    await this.parts.records.sessionUsed(hash, now).catch(() => {})
  }
}
