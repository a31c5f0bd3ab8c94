/** The role of a console user: may change everything, or only read. */
export type Role = 'admin' | 'viewer'

/** The sign-in method of a user: here with a password, or at the configured OpenID provider. */
export type UserSource = 'password' | 'oidc'

/** A user of the console. Times are Unix milliseconds. */
export interface ConsoleUser {
  readonly name: string
  readonly role: Role
  readonly source: UserSource
  /** Password hash with salt and parameters. Absent for users of an OpenID provider. */
  readonly password?: string
  /** The provider's issuer and its id of the user. Absent for users with a password. */
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
  /** Latest end of the session, however often it is used. */
  readonly expiresAt: number
}

/** The rules for locking a name after wrong passwords from a network. Durations are milliseconds. */
export interface LockRules {
  /** Wrong passwords in a row from one network that lock the name for it. */
  readonly perNetwork: number
  /**
   * Wrong passwords from all networks together. From then on an unknown network has one try. A network that once sent
   * the right password keeps its own count.
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
  addUser(user: ConsoleUser, isFirst?: boolean): Promise<boolean>
  /**
   * Changes a user and returns the new state. Returns undefined if the user is unknown, `last-admin` if no enabled
   * administrator would be left. A new password or disabling ends all sessions except `exceptSession`.
   */
  changeUser(name: string, change: UserChange, exceptSession?: string): Promise<ConsoleUser | 'last-admin' | undefined>
  /** Sets the role that the OpenID provider states, even for the last administrator. */
  setRole(name: string, role: Role): Promise<void>
  /** Deletes a user and ends the user's sessions. */
  dropUser(name: string): Promise<'done' | 'last-admin' | 'unknown'>
  /**
   * Starts a session and ends the user's oldest sessions beyond `most`.
   *
   * @param password the password hash that was checked.
   * @returns false if the user now has another password, is disabled or was deleted.
   */
  openSignInSession(session: SignInSession, password: string | undefined, most: number): Promise<boolean>
  /** Returns a session that has not expired, with its user, who is enabled. */
  signInSession(hash: string): Promise<{ readonly session: SignInSession; readonly user: ConsoleUser } | undefined>
  touchSignInSession(hash: string, at: number): Promise<void>
  endSignInSession(hash: string): Promise<boolean>
  /** Ends all sessions of a user and returns their number. */
  endSignInSessions(user: string): Promise<number>
  /**
   * Counts a wrong password before the password is checked. `forgive` takes the count back if it was right. Returns
   * undefined if the password may be checked, otherwise the time until which the name is locked for that network.
   */
  attempt(tried: PasswordAttempt, rules: LockRules): Promise<number | undefined>
  /** Resets the count after a right password, and remembers the network as trusted for that name. */
  forgive(tried: PasswordAttempt): Promise<void>
  /** Deletes all counted attempts of a name. */
  unlock(account: string): Promise<void>
  /** Deletes expired sessions and old attempts. */
  sweep(): Promise<void>
}
