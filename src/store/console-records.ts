/** What a user may do: everything, or look at things. */
export type Role = 'admin' | 'viewer'

/** Who a user signs in at: here with a password, or at the provider of the config. */
export type UserSource = 'password' | 'oidc'

/** A user of the console. Times are Unix milliseconds. */
export interface ConsoleUser {
  readonly name: string
  readonly role: Role
  readonly source: UserSource
  /** A hash with its salt and parameters; absent for users of a provider. */
  readonly password?: string
  /** A provider's name for the user, with the provider's. */
  readonly subject?: string
  readonly enabled: boolean
  readonly createdAt: number
  readonly signedInAt?: number
}

/** Changes of a user; those that end what the user could do end the sessions, too. */
export type UserChange = Partial<Pick<ConsoleUser, 'role' | 'enabled' | 'password'>>

/** One sign-in of a user in one browser. */
export interface ConsoleSession {
  /** SHA-256 of its token, in hex. */
  readonly hash: string
  /** The name of the user. */
  readonly user: string
  readonly createdAt: number
  /** When it was last used, to the minute. */
  readonly usedAt: number
  /** When it ends whether it is used or not. */
  readonly expiresAt: number
}

/** How many wrong passwords lock a name for the network they came from; times in milliseconds. */
export interface LockRules {
  /** Wrong passwords in a row from one network. */
  readonly most: number
  /** Wrong passwords from anywhere, after which a network has one, unless the password was right from there before. */
  readonly everywhere: number
  readonly within: number
  readonly lockedFor: number
}

/** For whom a password is tried, and from where, each as a hash: there need not be such a user. */
export interface PasswordTry {
  readonly account: string
  readonly network: string
  /** The wider network that one owner may have many networks of; absent where there is none. */
  readonly around?: string
}

/** Users of the console and their sessions. Names are compared as they are written. */
export interface ConsoleRecords {
  /** All users, by name. */
  users(): Promise<readonly ConsoleUser[]>
  user(name: string): Promise<ConsoleUser | undefined>
  userOf(subject: string): Promise<ConsoleUser | undefined>
  /** False where a user has the name or the subject, or, for the first one, where there is any. */
  addUser(user: ConsoleUser, isFirst?: boolean): Promise<boolean>
  /**
   * The user as it is then; undefined where there is none, `last-admin` where nobody else could administer afterwards. With
   * a new password, and where the user is disabled, all sessions end save the one that is excepted.
   */
  changeUser(name: string, change: UserChange, exceptSession?: string): Promise<ConsoleUser | 'last-admin' | undefined>
  /** Takes over the role that a provider states, whatever it is. */
  setRole(name: string, role: Role): Promise<void>
  /** Deletes a user, whose sessions end. */
  dropUser(name: string): Promise<'done' | 'last-admin' | 'unknown'>
  /**
   * Begins a session; the oldest of the user end where there are more than so many.
   *
   * @param password what was checked: false where the user has another by now, is disabled or is gone.
   */
  openSession(session: ConsoleSession, password: string | undefined, most: number): Promise<boolean>
  /** A session that has not expired, and its user, who is enabled. */
  session(hash: string): Promise<{ readonly session: ConsoleSession; readonly user: ConsoleUser } | undefined>
  sessionUsed(hash: string, at: number): Promise<void>
  endSession(hash: string): Promise<boolean>
  /** Ends all sessions of a user; the result is how many. */
  endSessions(user: string): Promise<number>
  /**
   * Notes that a password is about to be tried; what is not forgiven is one more wrong password. Undefined where it may be
   * tried, else until when the name is locked for that network.
   */
  attempt(tried: PasswordTry, rules: LockRules): Promise<number | undefined>
  /** The password was right: what was noted of that network is forgotten, and that it was right remembered. */
  forgive(tried: PasswordTry): Promise<void>
  /** Forgets what was tried for a name. */
  unlock(account: string): Promise<void>
  /** Deletes what has expired. */
  sweep(): Promise<void>
}
