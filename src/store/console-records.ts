import type { EntryOf } from './audit-records.ts'

/** The role of a console user: `admin` may change everything, `viewer` may only read. */
export type Role = 'admin' | 'viewer'

/** The sign-in method of a user: a password of this gateway, or the configured OpenID provider. */
export type UserSource = 'password' | 'oidc'

/** A user of the console. Times are Unix milliseconds. */
export interface ConsoleUser {
  readonly name: string
  readonly role: Role
  readonly source: UserSource
  /** Password hash with salt and parameters. Absent for users of an OpenID provider. */
  readonly password?: string
  /** The provider's issuer, and the provider's id for the user. Absent for users with a password. */
  readonly subject?: string
  readonly enabled: boolean
  readonly createdAt: number
  readonly signedInAt?: number
}

/** Changed fields of a user. A new password or disabling the user also ends the user's sessions. */
export type UserChange = Partial<Pick<ConsoleUser, 'role' | 'enabled' | 'password'>>

/** One signed-in browser of a user. */
export interface SignInSession {
  /** SHA-256 of the session token, in hex. */
  readonly hash: string
  /** Name of the user. */
  readonly user: string
  readonly createdAt: number
  /** Last use, accurate to a minute. */
  readonly usedAt: number
  /** Time at which the session ends, however often it is used. */
  readonly expiresAt: number
}

/** Rules for locking a name after wrong passwords. Durations are in milliseconds. */
export interface LockRules {
  /** Consecutive wrong passwords from one network that lock the name for that network. */
  readonly perNetwork: number
  /**
   * Wrong passwords from all networks together, after which an unknown network has only one try. A network that once
   * sent the right password keeps its own count.
   */
  readonly total: number
  readonly within: number
  readonly lockedFor: number
}

/** A sign-in attempt: hash of the name and hash of the network. The name need not belong to a user. */
export interface PasswordAttempt {
  readonly account: string
  readonly network: string
  /** Hash of the wider network that one owner may control, such as an IPv6 /48. Absent for IPv4. */
  readonly widerNetwork?: string
}

/** Console users, their sign-in sessions and wrong passwords. Names are compared exactly. */
export interface ConsoleRecords {
  /** Returns all users, sorted by name. */
  users(): Promise<readonly ConsoleUser[]>
  user(name: string): Promise<ConsoleUser | undefined>
  userOf(subject: string): Promise<ConsoleUser | undefined>
  /** Adds a user. Returns false if the name or subject is taken or, for the first user, if any user exists. */
  addUser(user: ConsoleUser, isFirst?: boolean, entryOf?: EntryOf<ConsoleUser>): Promise<boolean>
  /**
   * Changes a user and returns the new state. Returns undefined if the user is unknown, `last-admin` if no enabled
   * administrator would remain. A new password, or disabling the user, ends all sessions except `exceptSession`.
   */
  changeUser(
    name: string,
    change: UserChange,
    exceptSession?: string,
    entryOf?: EntryOf<ConsoleUser>,
  ): Promise<ConsoleUser | 'last-admin' | undefined>
  /** Sets the role stated by the OpenID provider, even for the last administrator. */
  setRole(name: string, role: Role, entryOf?: EntryOf<ConsoleUser>): Promise<void>
  /** Deletes a user and ends the user's sessions. */
  dropUser(name: string, entryOf?: EntryOf<ConsoleUser>): Promise<'done' | 'last-admin' | 'unknown'>
  /**
   * Starts a session and ends the user's oldest sessions beyond `maxSessions`.
   *
   * @param password the password hash that the sign-in was checked against.
   * @returns false if the user now has another password, is disabled or was deleted.
   */
  openSignInSession(session: SignInSession, password: string | undefined, maxSessions: number): Promise<boolean>
  /** Returns an unexpired session with its user, if the user is enabled. */
  signInSession(hash: string): Promise<{ readonly session: SignInSession; readonly user: ConsoleUser } | undefined>
  touchSignInSession(hash: string, at: number): Promise<void>
  endSignInSession(hash: string): Promise<boolean>
  /** Ends all sessions of a user and returns their number, or undefined if the user is unknown. */
  endSignInSessions(user: string, entryOf?: EntryOf<ConsoleUser>): Promise<number | undefined>
  /**
   * Counts an attempt as wrong before the password is checked. `forgive` undoes the count if the password was right.
   * Returns the time until which the name is locked for that network, or undefined if the password may be checked.
   */
  attempt(attempt: PasswordAttempt, rules: LockRules): Promise<number | undefined>
  /** Resets the count after a right password, and marks the network as trusted for that name. */
  forgive(attempt: PasswordAttempt): Promise<void>
  /** Deletes all counted attempts of a name. */
  unlock(account: string): Promise<void>
  /** Deletes sessions that expired before a time, in Unix milliseconds, and old attempts. By default the current time. */
  sweep(before?: number): Promise<void>
}
