import type { IncomingMessage } from 'node:http'
import { loadOnce } from '../../canonical/load-once.ts'
import type { ConsoleConfig } from '../../config/types.ts'
import type { Proxies } from '../../gateway/proxies/index.ts'
import type { Log } from '../../log.ts'
import type { EntryOf } from '../../store/audit-records.ts'
import type { ConsoleRecords, ConsoleUser, Role } from '../../store/console-records.ts'
import { isSameOrigin } from './csrf.ts'
import { type NewUser, newUser, resetPassword } from './new-user.ts'
import type { ProviderSignIn, StateEncryption } from './provider-sign-in.ts'
import { randomPassword } from './random-password.ts'
import { hashPassword } from './scrypt.ts'
import { SignIn } from './sign-in.ts'
import { SignInSessions } from './sign-in-sessions.ts'

export { hasRole, type Principal } from './principal.ts'
export type { SignInRefusal } from './sign-in.ts'
export type { OpenSignInSession } from './sign-in-sessions.ts'

export interface ConsoleUsersOptions {
  readonly records: ConsoleRecords
  readonly log: Log
  /** Returns undefined if the console is disabled. */
  readonly config: () => ConsoleConfig | undefined
  readonly publicUrls: () => readonly string[]
  readonly proxies: () => Proxies
  /** Settles when an answer to that address may be sent. Rejects with GatewayError if too many are already waiting. */
  readonly slow: (address: string) => Promise<void>
  readonly encryption: () => StateEncryption
}

/** Manages console users, with their passwords, sessions and sign-ins. */
export class ConsoleUsers {
  readonly records: ConsoleRecords
  readonly sessions: SignInSessions
  readonly signIn: SignIn
  private readonly parts: ConsoleUsersOptions

  constructor(parts: ConsoleUsersOptions) {
    const { records, log, config, proxies, slow } = parts
    this.parts = parts
    this.records = records
    this.sessions = new SignInSessions({
      records,
      config,
      isSecure: message => this.isSecure(message),
    })
    this.signIn = new SignIn({
      ...{ records, log, slow, sessions: this.sessions },
      addressOf: message => proxies().addressOf(message),
    })
  }

  /** Settings of the console, or undefined if it is disabled. */
  get config(): ConsoleConfig | undefined {
    return this.parts.config()
  }

  /** Adds a user, with a random password if none is given. Returns undefined if the name is taken. */
  async add(
    name: string,
    role: Role,
    password = randomPassword(),
    entryOf?: EntryOf<ConsoleUser>,
  ): Promise<NewUser | undefined> {
    const user = await newUser(name, role, password)
    return (await this.records.addUser(user, false, entryOf)) ? { user, password } : undefined
  }

  /** Sets a random password, ends the user's sessions and removes a lockout. */
  resetPassword(name: string, entryOf?: EntryOf<ConsoleUser>): Promise<{ readonly text: string } | 'unknown' | 'oidc'> {
    return resetPassword(this.records, name, entryOf)
  }

  /** Sets a user's password. Ends all sessions except the one with the given token hash. Rejects with GatewayError. */
  async setPassword(
    name: string,
    password: string,
    exceptSession?: string,
    entryOf?: EntryOf<ConsoleUser>,
  ): Promise<void> {
    await this.records.changeUser(name, { password: await hashPassword(password) }, exceptSession, entryOf)
  }

  /** Returns the sign-in through an identity provider. Loads its code on first use. */
  readonly provider = loadOnce(async (): Promise<ProviderSignIn> => {
    const { records, sessions } = this
    const { log, encryption } = this.parts
    const { ProviderSignIn } = await import('./provider-sign-in.ts')
    const isSecure = (message: IncomingMessage): boolean => this.isSecure(message)
    return new ProviderSignIn({ records, sessions, log, encryption: encryption(), isSecure })
  })

  /** Returns the base URL by which the sender of a request reaches the gateway. */
  baseOf(message: IncomingMessage): string {
    return this.parts.proxies().baseOf(message)
  }

  /** Returns false if a request may come from a page of another origin. */
  isSameOrigin(message: IncomingMessage): boolean {
    const ownUrls = [this.parts.proxies().originOf(message), ...this.parts.publicUrls()]
    return isSameOrigin(
      message,
      ownUrls.filter(one => URL.canParse(one)).map(one => new URL(one).host),
    )
  }

  /** Returns true if a request came over TLS. */
  private isSecure(message: IncomingMessage): boolean {
    return this.parts.proxies().originOf(message).startsWith('https:')
  }
}
