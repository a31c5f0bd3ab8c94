import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { hashOf } from '../../config/hash.ts'
import type { ConsoleConfig } from '../../config/types.ts'
import type { ConsoleRecords, ConsoleUser } from '../../store/console-records.ts'
import { CLOCK_DIFFERENCE } from '../../store/store-clock.ts'
import { cookieIn, formatCookie } from './cookies.ts'
import { csrfOf, isConsoleRequest } from './csrf.ts'

const COOKIE_NAME = 'interlingua_session'
const TOKEN_BYTES = 32
const TOKEN_PATTERN = /^[\w-]{43}$/
/** Maximum number of sessions per user. A new session ends the oldest. */
const MAX_SESSIONS = 50
/** Minimum interval between stored uses of a session, in milliseconds. */
const USE_INTERVAL_MS = 60_000

/** Header of requests that the console makes without an action of the user. They are no use of the session. */
const BY_ITSELF_HEADER = 'x-interlingua-by-itself'

/** Dependencies of the sessions. */
export interface SignInSessionOptions {
  readonly records: ConsoleRecords
  /** Returns undefined if the console is disabled. */
  readonly config: () => ConsoleConfig | undefined
  /** Returns true if a request came over TLS. */
  readonly isSecure: (message: IncomingMessage) => boolean
}

/** A valid session of a signed-in user. */
export interface OpenSignInSession {
  readonly user: ConsoleUser
  /** The session token, which only the cookie contains. */
  readonly token: string
  readonly hash: string
  /** Time at which the session expires, in Unix milliseconds. */
  readonly expiresAt: number
}

/** Sign-in sessions of console users: a random token in a cookie, whose hash is stored. */
export class SignInSessions {
  private readonly parts: SignInSessionOptions

  constructor(parts: SignInSessionOptions) {
    this.parts = parts
  }

  /**
   * Returns the session of a request's cookie, or undefined if the cookie is missing or invalid. Rejects if the store
   * fails.
   *
   * @param isUse whether this is an action of the user, which prolongs the session.
   */
  async find(
    message: IncomingMessage,
    isUse = message.headers[BY_ITSELF_HEADER] === undefined,
  ): Promise<OpenSignInSession | undefined> {
    const config = this.parts.config()
    const token = this.tokenIn(message)
    if (config === undefined || token === undefined) return undefined
    const now = Date.now()
    const hash = hashOf(token)
    const { user, session } = (await this.parts.records.signInSession(hash)) ?? {}
    if (user === undefined || session === undefined) return undefined
    // A stricter config also applies to existing sessions.
    const expiresAt = Math.min(session.expiresAt, session.createdAt + config.session)
    if (expiresAt <= now || session.usedAt + config.idle <= now) return undefined
    // A session of the future would outlast its duration. The clock was set back.
    if (Math.max(session.createdAt, session.usedAt) > now + CLOCK_DIFFERENCE) return undefined
    if (isUse && now - session.usedAt >= Math.min(USE_INTERVAL_MS, config.idle / 4)) await this.recordUse(hash, now)
    return { user, token, hash, expiresAt }
  }

  /** Returns true if a request of this session came from the console rather than from a page of another site (CSRF). */
  isFromConsole(message: IncomingMessage, session: OpenSignInSession): boolean {
    return isConsoleRequest(message, session.token)
  }

  /**
   * Starts a session with a new token, and ends the request's previous session.
   *
   * @param user the user as read when the password was checked.
   * @returns undefined if the user was disabled or changed the password in the meantime.
   */
  async start(user: ConsoleUser, message: IncomingMessage): Promise<OpenSignInSession | undefined> {
    const { records } = this.parts
    const token = randomBytes(TOKEN_BYTES).toString('base64url')
    const hash = hashOf(token)
    const now = Date.now()
    const expiresAt = now + this.parts.config()!.session
    const session = { hash, user: user.name, createdAt: now, usedAt: now, expiresAt }
    if (!(await records.openSignInSession(session, user.password, MAX_SESSIONS))) return undefined
    await this.end(message)
    return { user, token, hash, expiresAt }
  }

  /** Ends the session of a request's cookie. */
  async end(message: IncomingMessage): Promise<void> {
    const token = this.tokenIn(message)
    if (token !== undefined) await this.parts.records.endSignInSession(hashOf(token))
  }

  /** Returns the `set-cookie` header that stores the session in the browser. */
  cookie({ token, expiresAt }: OpenSignInSession, message: IncomingMessage): string {
    const maxAge = Math.max(1, Math.round((expiresAt - Date.now()) / 1000))
    return formatCookie({ name: COOKIE_NAME, value: token, maxAge, sameSite: 'Strict' }, this.parts.isSecure(message))
  }

  /** Returns the `set-cookie` header that deletes the session cookie. */
  expiredCookie(message: IncomingMessage): string {
    return formatCookie({ name: COOKIE_NAME, value: '', maxAge: 0, sameSite: 'Strict' }, this.parts.isSecure(message))
  }

  csrf({ token }: OpenSignInSession): string {
    return csrfOf(token)
  }

  private tokenIn(message: IncomingMessage): string | undefined {
    const token = cookieIn(message, COOKIE_NAME, this.parts.isSecure(message))
    return token !== undefined && TOKEN_PATTERN.test(token) ? token : undefined
  }

  /** Records the use of a session. Failures are ignored, so that a read-only store does not sign users out. */
  private async recordUse(hash: string, now: number): Promise<void> {
    await this.parts.records.touchSignInSession(hash, now).catch(() => {})
  }
}
