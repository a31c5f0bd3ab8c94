import type { IncomingMessage } from 'node:http'
import { networkOf } from '../../accounts/network.ts'
import { WrongKeys } from '../../accounts/wrong-keys.ts'
import type { Log } from '../../log.ts'
import type { ConsoleRecords, ConsoleUser, LockRules, PasswordAttempt } from '../../store/console-records.ts'
import { isPassword, TOO_BUSY } from './scrypt.ts'
import type { OpenSignInSession, SignInSessions } from './sign-in-sessions.ts'
import { attemptFor, userName } from './user-name.ts'

/**
 * Lockout rules: ten consecutive wrong passwords from one network within 15 minutes lock the name for that network for
 * 15 minutes. After fifty from anywhere, every network has one attempt, so that distributed guessing needs one address
 * per guess.
 */
export const LOCK: LockRules = { perNetwork: 10, total: 50, within: 900_000, lockedFor: 900_000 }

/** Maximum number of concurrent sign-ins from one network, including delayed ones. */
const MAX_CONCURRENT = 10

export interface SignInOptions {
  readonly records: ConsoleRecords
  readonly sessions: SignInSessions
  readonly log: Log
  readonly addressOf: (message: IncomingMessage) => string
  /** Settles when an answer to that address may be sent. Rejects with GatewayError if too many are already waiting. */
  readonly slow: (address: string) => Promise<void>
}

/** Reason why a password was refused, with the seconds until the next attempt for `locked`. */
export type SignInRefusal = { readonly refused: 'wrong' } | { readonly refused: 'locked'; readonly seconds: number }

const WRONG_PASSWORD: SignInRefusal = { refused: 'wrong' }

/** Checks passwords. An unknown user takes as long as a wrong password. */
export class SignIn {
  private readonly parts: SignInOptions
  /** Delays guesses for one name, whatever their addresses. */
  private readonly byName = new WrongKeys()
  private readonly inProgress = new Map<string, number>()

  constructor(parts: SignInOptions) {
    this.parts = parts
  }

  /** Signs a user in. Rejects with GatewayError if the store fails or too many sign-ins are in progress. */
  withPassword(name: string, password: string, message: IncomingMessage): Promise<OpenSignInSession | SignInRefusal> {
    return this.limitConcurrency(message, async () => {
      const normalizedName = userName(name)
      const user = await this.checkPassword(
        normalizedName,
        password,
        message,
        attemptFor(normalizedName, this.parts.addressOf(message)),
      )
      if ('refused' in user) return user
      const session = await this.parts.sessions.start(user, message)
      if (session === undefined) return WRONG_PASSWORD
      this.parts.log.info({ user: user.name, address: this.parts.addressOf(message) }, 'signed in')
      return session
    })
  }

  /** Checks the password of a signed-in user again. */
  confirm(user: ConsoleUser, password: string, message: IncomingMessage): Promise<ConsoleUser | SignInRefusal> {
    return this.limitConcurrency(message, () => this.checkPassword(user.name, password, message, attemptFor(user.name)))
  }

  private async checkPassword(
    name: string,
    password: string,
    message: IncomingMessage,
    attempt: PasswordAttempt,
  ): Promise<ConsoleUser | SignInRefusal> {
    const { records, log } = this.parts
    const address = this.parts.addressOf(message)
    const user = await records.user(name)
    const lockedUntil = await records.attempt(attempt, LOCK)
    const now = Date.now()
    if (lockedUntil !== undefined) {
      await this.parts.slow(address)
      return { refused: 'locked', seconds: Math.max(1, Math.ceil((lockedUntil - now) / 1000)) }
    }
    const isCorrect = await isPassword(password, user?.password)
    if (isCorrect && user!.enabled) {
      await records.forgive(attempt)
      return user!
    }
    // An unknown name is not logged, because somebody may have typed the password into that field.
    log.warn({ address, ...(user === undefined ? {} : { user: user.name }) }, 'sign-in refused')
    await Promise.all([this.parts.slow(address), this.byName.slow(attempt.account)])
    return WRONG_PASSWORD
  }

  /** Limits concurrent attempts from one network. */
  private async limitConcurrency<T>(message: IncomingMessage, work: () => Promise<T>): Promise<T> {
    const { inProgress } = this
    const network = networkOf(this.parts.addressOf(message))
    const count = inProgress.get(network) ?? 0
    if (count >= MAX_CONCURRENT) throw TOO_BUSY
    inProgress.set(network, count + 1)
    try {
      return await work()
    } finally {
      const remaining = inProgress.get(network)! - 1
      if (remaining === 0) inProgress.delete(network)
      else inProgress.set(network, remaining)
    }
  }
}
