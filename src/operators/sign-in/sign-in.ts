import type { IncomingMessage } from 'node:http'
import { networkOf } from '../../accounts/network.ts'
import { WrongKeys } from '../../accounts/wrong-keys.ts'
import type { Log } from '../../log.ts'
import type { ConsoleRecords, ConsoleUser, LockRules, PasswordTry } from '../../store/console-records.ts'
import { isPassword, TOO_BUSY } from './scrypt.ts'
import type { OpenSession, Sessions } from './sessions.ts'
import { tryOf, userName } from './user-name.ts'

/**
 * Lockout rules: ten consecutive wrong passwords from one network within 15 minutes lock the name for that network for
 * 15 minutes. After fifty from anywhere, every network has one attempt, so that distributed guessing costs one address
 * per guess.
 */
export const LOCK: LockRules = { most: 10, everywhere: 50, within: 900_000, lockedFor: 900_000 }

/** Most concurrent sign-ins of one network, including delayed ones. */
const AT_ONCE = 10

export interface SignInParts {
  readonly records: ConsoleRecords
  readonly sessions: Sessions
  readonly log: Log
  readonly addressOf: (message: IncomingMessage) => string
  /** Settles when an answer to that address may be sent; rejects with GatewayError if too many are already waiting. */
  readonly slow: (address: string) => Promise<void>
}

/** Why a password was refused; for `locked`, with the seconds until the next attempt. */
export type Refused = { readonly refused: 'wrong' } | { readonly refused: 'locked'; readonly seconds: number }

const WRONG: Refused = { refused: 'wrong' }

/** Checks passwords. An unknown user takes as long as a wrong password. */
export class SignIn {
  private readonly parts: SignInParts
  /** Delays guesses for one name, regardless of their addresses. */
  private readonly byName = new WrongKeys()
  private readonly inProgress = new Map<string, number>()

  constructor(parts: SignInParts) {
    this.parts = parts
  }

  /** Signs a user in. Rejects with GatewayError if the store fails or too many sign-ins are in progress. */
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

  /** Checks the password of a signed-in user again. */
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
    // An unknown name is not logged: somebody may have typed the password there.
    log.warn({ address, ...(user === undefined ? {} : { user: user.name }) }, 'sign-in refused')
    await Promise.all([this.parts.slow(address), this.byName.slow(tried.account)])
    return WRONG
  }

  /** Limits the concurrent attempts of one network. */
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
