import type { IncomingMessage } from 'node:http'
import type { OidcConfig } from '../../config/types.ts'
import type { Log } from '../../log.ts'
import type { EntryOf } from '../../store/audit-records.ts'
import type { ConsoleRecords, ConsoleUser } from '../../store/console-records.ts'
import { type Claims, nameIn, roleIn } from './claims.ts'
import { cookieIn, formatCookie } from './cookies.ts'
import { type PendingSignIn, Provider } from './oidc.ts'
import type { OpenSignInSession, SignInSessions } from './sign-in-sessions.ts'

const COOKIE_NAME = 'interlingua_oidc'
/** Maximum time for signing in at the provider, in seconds. */
const SIGN_IN_SECONDS = 600

/** Encrypts the sign-in state that the browser stores in a cookie. */
export interface StateEncryption {
  load(): Promise<void>
  encrypt(text: string): string
  decrypt(encrypted: string): string | undefined
}

export interface ProviderSignInOptions {
  readonly records: ConsoleRecords
  readonly sessions: SignInSessions
  readonly log: Log
  readonly encryption: StateEncryption
  readonly isSecure: (message: IncomingMessage) => boolean
}

/** Returns how a new user, or the new role of a user, enters the audit log. */
export type UserRecording = (user: ConsoleUser, action: 'createUser' | 'changeUser') => EntryOf<ConsoleUser> | undefined

/** Reasons for a failed sign-in: not started in this browser, provider error, no role, or user disabled. */
export type ProviderSignInFailure = 'unknown' | 'failed' | 'no-role' | 'disabled'

/** Signs users in through an identity provider (OpenID Connect). */
export class ProviderSignIn {
  private readonly parts: ProviderSignInOptions
  private provider: Provider | undefined

  constructor(parts: ProviderSignInOptions) {
    this.parts = parts
  }

  /**
   * Starts a sign-in. Returns the provider's URL and a cookie with the encrypted state. If the provider is unreachable,
   * logs the error and returns undefined.
   */
  async begin(
    config: OidcConfig,
    redirectUri: string,
    message: IncomingMessage,
  ): Promise<{ readonly url: string; readonly cookie: string } | undefined> {
    const { encryption, log } = this.parts
    await encryption.load()
    try {
      const { url, pending } = await this.providerFor(config).start(redirectUri)
      return { url, cookie: this.cookie(encryption.encrypt(JSON.stringify(pending)), SIGN_IN_SECONDS, message) }
    } catch (thrown) {
      log.error({ issuer: config.issuer, err: reasonOf(thrown) }, 'the identity provider is unreachable')
      return undefined
    }
  }

  /** Completes a sign-in and opens a session. Rejects with GatewayError if the store fails. */
  async finish(
    config: OidcConfig,
    query: URLSearchParams,
    message: IncomingMessage,
    recording: UserRecording,
  ): Promise<OpenSignInSession | ProviderSignInFailure> {
    const { sessions, log } = this.parts
    const pending = await this.pendingOf(message)
    if (pending === undefined || pending.issuer !== config.issuer) return 'unknown'
    let claims: Claims
    try {
      claims = await this.providerFor(config).finish(query, pending)
    } catch (thrown) {
      log.warn({ issuer: config.issuer, err: reasonOf(thrown) }, 'sign-in through the identity provider failed')
      return 'failed'
    }
    const user = await this.userOf(claims, config, recording)
    if (typeof user === 'string') {
      const name = nameIn(claims, subjectOf(claims, config), false)
      const details = user === 'no-role' ? { claim: config.claim } : {}
      log.warn({ issuer: config.issuer, why: user, user: name, ...details }, REFUSED)
      return user
    }
    const session = await sessions.start(user, message)
    if (session === undefined) return 'disabled'
    log.info({ user: user.name, issuer: config.issuer }, 'signed in')
    return session
  }

  /** Returns a cookie that deletes the sign-in state. Each sign-in can be completed once. */
  expiredCookie(message: IncomingMessage): string {
    return this.cookie('', 0, message)
  }

  /**
   * Returns the user with that subject, created at the first sign-in. The role always follows the provider's current
   * claims.
   */
  private async userOf(
    claims: Claims,
    config: OidcConfig,
    recording: UserRecording,
  ): Promise<ConsoleUser | 'no-role' | 'disabled'> {
    const { records } = this.parts
    const role = roleIn(claims, config)
    const subject = subjectOf(claims, config)
    const existing = await records.userOf(subject)
    if (existing?.enabled === false) return 'disabled'
    if (role === undefined) {
      // A user who lost all roles is also signed out.
      if (existing !== undefined) await records.endSignInSessions(existing.name)
      return 'no-role'
    }
    if (existing !== undefined) {
      const user = { ...existing, role }
      if (existing.role !== role) await records.setRole(existing.name, role, recording(user, 'changeUser'))
      return user
    }
    for (const isOther of [false, true]) {
      const name = nameIn(claims, subject, isOther)
      const user = { name, role, source: 'oidc', subject, enabled: true, createdAt: Date.now() } as const
      if (await records.addUser(user, false, recording(user, 'createUser'))) return user
    }
    // Another browser of the same user created the user in the meantime.
    return (await records.userOf(subject)) ?? 'disabled'
  }

  private providerFor(config: OidcConfig): Provider {
    if (this.provider?.config !== config) this.provider = new Provider(config)
    return this.provider
  }

  private async pendingOf(message: IncomingMessage): Promise<PendingSignIn | undefined> {
    const { encryption, isSecure } = this.parts
    const encrypted = cookieIn(message, COOKIE_NAME, isSecure(message))
    if (encrypted === undefined) return undefined
    await encryption.load()
    const text = encryption.decrypt(encrypted)
    const pending = text === undefined ? undefined : (JSON.parse(text) as PendingSignIn)
    return pending !== undefined && pending.startedAt + SIGN_IN_SECONDS * 1000 > Date.now() ? pending : undefined
  }

  /** Returns the state cookie. `Lax`, because it must be sent with the redirect from the provider's site. */
  private cookie(value: string, maxAge: number, message: IncomingMessage): string {
    return formatCookie({ name: COOKIE_NAME, value, maxAge, sameSite: 'Lax' }, this.parts.isSecure(message))
  }
}

const REFUSED = 'sign-in through the identity provider refused'

/** Returns the permanent identifier of a user. Two providers may use the same subject. */
const subjectOf = ({ sub }: Claims, { issuer }: OidcConfig): string => `${issuer} ${sub}`

/** Describes an error of the provider or the library, from fields that contain no tokens. */
function reasonOf(thrown: unknown): string {
  const { code, error, message, cause } = thrown as {
    readonly [field in 'code' | 'error' | 'message' | 'cause']?: unknown
  }
  const under = cause instanceof Error ? cause.message : undefined
  return [code, error, message, under]
    .filter(one => typeof one === 'string')
    .join(': ')
    .slice(0, 300)
}
