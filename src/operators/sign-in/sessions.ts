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
/** Most sessions per user; new sessions end the oldest. */
const MOST = 50
/** Milliseconds; shortest interval for storing that a session was used. */
const NOTED = 60_000

/** Dependencies of the sessions. */
export interface SessionParts {
  readonly records: ConsoleRecords
  /** Returns undefined if the console is disabled. */
  readonly config: () => ConsoleConfig | undefined
  /** Whether a request came over TLS. */
  readonly isSecure: (message: IncomingMessage) => boolean
}

/** A valid session of a signed-in user. */
export interface OpenSession {
  readonly user: ConsoleUser
  /** The session token, which only the cookie contains. */
  readonly token: string
  readonly hash: string
  /** Unix time in milliseconds. */
  readonly expiresAt: number
}

/** Sign-in sessions of console users: a random token in a cookie, whose hash is stored. */
export class Sessions {
  private readonly parts: SessionParts

  constructor(parts: SessionParts) {
    this.parts = parts
  }

  /**
   * Returns the session of a request's cookie; undefined if there is none or it is invalid. Rejects if the store fails.
   */
  async of(message: IncomingMessage): Promise<OpenSession | undefined> {
    const config = this.parts.config()
    const token = this.tokenIn(message)
    if (config === undefined || token === undefined) return undefined
    const now = Date.now()
    const hash = hashOf(token)
    const { user, session } = (await this.parts.records.session(hash)) ?? {}
    if (user === undefined || session === undefined) return undefined
    // A stricter config also applies to existing sessions.
    const expiresAt = Math.min(session.expiresAt, session.createdAt + config.session)
    if (expiresAt <= now || session.usedAt + config.idle <= now) return undefined
    if (now - session.usedAt >= Math.min(NOTED, config.idle / 4)) await this.used(hash, now)
    return { user, token, hash, expiresAt }
  }

  /** Whether the console made a request of this session, rather than a page of another site (CSRF). */
  isOwn(message: IncomingMessage, session: OpenSession): boolean {
    return isOwnRequest(message, session.token)
  }

  /**
   * Starts a session with a new token, and ends the session that the request had before.
   *
   * @param user as read when the password was checked.
   * @returns undefined if the user was disabled or changed the password meanwhile.
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

  /** Ends the session of a request's cookie. */
  async end(message: IncomingMessage): Promise<void> {
    const token = this.tokenIn(message)
    if (token !== undefined) await this.parts.records.endSession(hashOf(token))
  }

  /** Returns the `set-cookie` header that stores the session in the browser. */
  cookie({ token, expiresAt }: OpenSession, message: IncomingMessage): string {
    const maxAge = Math.max(1, Math.round((expiresAt - Date.now()) / 1000))
    return written({ name: COOKIE, value: token, maxAge, sameSite: 'Strict' }, this.parts.isSecure(message))
  }

  /** Returns the `set-cookie` header that deletes the session cookie. */
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

  /** Records the use of a session. Failures are ignored, so that a read-only store does not sign users out. */
  private async used(hash: string, now: number): Promise<void> {
    await this.parts.records.sessionUsed(hash, now).catch(() => {})
  }
}
