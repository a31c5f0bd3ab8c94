import type { IncomingMessage } from 'node:http'
import type { OidcConfig } from '../../config/types.ts'
import type { Log } from '../../log.ts'
import type { ConsoleRecords, ConsoleUser } from '../../store/console-records.ts'
import { type Claims, nameIn, roleIn } from './claims.ts'
import { cookieIn, written } from './cookies.ts'
import { type Pending, Provider } from './oidc.ts'
import type { OpenSession, Sessions } from './sessions.ts'

const COOKIE = 'interlingua_oidc'
/** Seconds a user may take at the provider. */
const PATIENCE = 600

/** Encrypts what a browser keeps until the user comes back. */
export interface Sealing {
  load(): Promise<void>
  seal(text: string): string
  open(sealed: string): string | undefined
}

export interface ProviderParts {
  readonly records: ConsoleRecords
  readonly sessions: Sessions
  readonly log: Log
  readonly seal: Sealing
  readonly isSecure: (message: IncomingMessage) => boolean
}

/** Why nobody is signed in: the way back was not begun in this browser, the provider failed, or refused. */
export type ProviderRefusal = 'unknown' | 'failed' | 'no-role' | 'disabled'

/** Signs users in at a provider. */
export class ProviderSignIn {
  private readonly parts: ProviderParts
  private provider: Provider | undefined

  constructor(parts: ProviderParts) {
    this.parts = parts
  }

  /** Where the user signs in, and the cookie that goes along. Undefined where the provider cannot be asked, which is logged. */
  async begin(
    config: OidcConfig,
    redirectUri: string,
    message: IncomingMessage,
  ): Promise<{ readonly url: string; readonly cookie: string } | undefined> {
    const { seal, log } = this.parts
    await seal.load()
    try {
      const { url, pending } = await this.at(config).begin(redirectUri)
      return { url, cookie: this.cookie(seal.seal(JSON.stringify(pending)), PATIENCE, message) }
    } catch (thrown) {
      log.error({ issuer: config.issuer, err: reasonOf(thrown) }, 'the provider of sign-ins cannot be asked')
      return undefined
    }
  }

  /** The session of a user who comes back. Rejects with GatewayError where the store is at fault. */
  async finish(
    config: OidcConfig,
    query: URLSearchParams,
    message: IncomingMessage,
  ): Promise<OpenSession | ProviderRefusal> {
    const { sessions, log } = this.parts
    const pending = await this.pendingOf(message)
    if (pending === undefined || pending.issuer !== config.issuer) return 'unknown'
    let claims: Claims
    try {
      claims = await this.at(config).finish(query, pending)
    } catch (thrown) {
      log.warn({ issuer: config.issuer, err: reasonOf(thrown) }, 'a sign-in at the provider was refused')
      return 'failed'
    }
    const user = await this.userOf(claims, config)
    if (typeof user === 'string') {
      log.warn({ issuer: config.issuer, why: user }, 'a sign-in at the provider was refused')
      return user
    }
    const session = await sessions.begin(user, message)
    if (session === undefined) return 'disabled'
    log.info({ user: user.name, issuer: config.issuer }, 'signed in')
    return session
  }

  /** Takes away the cookie of a sign-in, which can be finished once. */
  noCookie(message: IncomingMessage): string {
    return this.cookie('', 0, message)
  }

  /** The user of a subject, who is made with the first sign-in; the role is what the provider states now. */
  private async userOf(claims: Claims, config: OidcConfig): Promise<ConsoleUser | 'no-role' | 'disabled'> {
    const { records } = this.parts
    const role = roleIn(claims, config)
    const subject = `${config.issuer} ${claims.sub}`
    const known = await records.userOf(subject)
    if (known?.enabled === false) return 'disabled'
    if (role === undefined) {
      // Whoever lost the roles is signed out as well.
      if (known !== undefined) await records.endSessions(known.name)
      return 'no-role'
    }
    if (known !== undefined) {
      if (known.role !== role) await records.setRole(known.name, role)
      return { ...known, role }
    }
    for (const isOther of [false, true]) {
      const name = nameIn(claims, subject, isOther)
      const user = { name, role, source: 'oidc', subject, enabled: true, createdAt: Date.now() } as const
      if (await records.addUser(user)) return user
    }
    // Another browser of the user was faster.
    return (await records.userOf(subject)) ?? 'disabled'
  }

  private at(config: OidcConfig): Provider {
    if (this.provider?.config !== config) this.provider = new Provider(config)
    return this.provider
  }

  private async pendingOf(message: IncomingMessage): Promise<Pending | undefined> {
    const { seal, isSecure } = this.parts
    const sealed = cookieIn(message, COOKIE, isSecure(message))
    if (sealed === undefined) return undefined
    await seal.load()
    const text = seal.open(sealed)
    const pending = text === undefined ? undefined : (JSON.parse(text) as Pending)
    return pending !== undefined && pending.begunAt + PATIENCE * 1000 > Date.now() ? pending : undefined
  }

  /** It must come along from the provider's page, which is another site. */
  private cookie(value: string, maxAge: number, message: IncomingMessage): string {
    return written({ name: COOKIE, value, maxAge, sameSite: 'Lax' }, this.parts.isSecure(message))
  }
}

/** Of what a provider or the library reports, what names no token. */
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
