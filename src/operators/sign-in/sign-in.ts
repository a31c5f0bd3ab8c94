import type { IncomingMessage } from 'node:http'
import { networkOf } from '../../accounts/network.ts'
import { WrongKeys } from '../../accounts/wrong-keys.ts'
import type { Log } from '../../log.ts'
import type { ConsoleRecords, ConsoleUser, LockRules, PasswordTry } from '../../store/console-records.ts'
import { isPassword, TOO_BUSY } from './scrypt.ts'
import type { OpenSession, Sessions } from './sessions.ts'
import { tryOf, userName } from './user-name.ts'

/**
 * Ten wrong passwords in a row from one network within a quarter of an hour lock a name there for as long. After fifty
 * from anywhere a network has one, so that guesses from many addresses cost an address each.
 */
export const LOCK: LockRules = { most: 10, everywhere: 50, within: 900_000, lockedFor: 900_000 }

/** Sign-ins of one address that may be in progress, those held back among them. */
const AT_ONCE = 10

export interface SignInParts {
  readonly records: ConsoleRecords
  readonly sessions: Sessions
  readonly log: Log
  readonly addressOf: (message: IncomingMessage) => string
  /** Settles when an answer to that address may be sent; rejects with GatewayError where too many wait already. */
  readonly slow: (address: string) => Promise<void>
}

/** What became of a password: why it was refused, with the seconds after which it may be tried again. */
export type Refused = { readonly refused: 'wrong' } | { readonly refused: 'locked'; readonly seconds: number }

const WRONG: Refused = { refused: 'wrong' }

/** Checks passwords, at a cost that does not depend on whether there is such a user. */
export class SignIn {
  private readonly parts: SignInParts
  /** Guesses for one name are held back wherever they come from. */
  private readonly byName = new WrongKeys()
  private readonly inProgress = new Map<string, number>()

  constructor(parts: SignInParts) {
    this.parts = parts
  }

  /** Signs a user in. Rejects with GatewayError where the store is at fault, or too much is tried at once. */
  withPassword(name: string, password: string, message: IncomingMessage): Promise<OpenSession | Refused> {
    return this.counted(message, async () => {
      const written = userName(name)
      const user = await this.checked(written, password, message, tryOf(written, this.parts.addressOf(message)))
      if ('refused' in user) return user
      const session = await this.parts.sessions.begin(user, message)
      if (session === undefined) return WRONG
      this.parts.log.info({ user: user.name, address: this.parts.addressOf(message) }, 'signed in')
      return session
    })
  }

  /** Checks the password of somebody who is signed in already. */
  confirm(user: ConsoleUser, password: string, message: IncomingMessage): Promise<ConsoleUser | Refused> {
    return this.counted(message, () => this.checked(user.name, password, message, tryOf(user.name)))
  }

  private async checked(
    name: string,
    password: string,
    message: IncomingMessage,
    tried: PasswordTry,
  ): Promise<ConsoleUser | Refused> {
    const { records, log } = this.parts
    const address = this.parts.addressOf(message)
    const user = await records.user(name)
    const lockedUntil = await records.attempt(tried, LOCK)
    const now = Date.now()
    if (lockedUntil !== undefined) {
      await this.parts.slow(address)
      return { refused: 'locked', seconds: Math.max(1, Math.ceil((lockedUntil - now) / 1000)) }
    }
    const isRight = await isPassword(password, user?.password)
    if (isRight && user!.enabled) {
      await records.forgive(tried)
      return user!
    }
    // What was typed as a name may be a password.
    log.warn({ address, ...(user === undefined ? {} : { user: user.name }) }, 'sign-in refused')
    await Promise.all([this.parts.slow(address), this.byName.slow(tried.account)])
    return WRONG
  }

  /** One address has few attempts in progress, however many it begins. */
  private async counted<T>(message: IncomingMessage, work: () => Promise<T>): Promise<T> {
    const { inProgress } = this
    const network = networkOf(this.parts.addressOf(message))
    const count = inProgress.get(network) ?? 0
    if (count >= AT_ONCE) throw TOO_BUSY
    inProgress.set(network, count + 1)
    try {
      return await work()
    } finally {
      const left = inProgress.get(network)! - 1
      if (left === 0) inProgress.delete(network)
      else inProgress.set(network, left)
    }
  }
}
