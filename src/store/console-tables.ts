/** A console user; `ConsoleUser` describes the fields. */
export interface ConsoleUserRow {
  readonly name: string
  readonly role: string
  readonly source: string
  readonly password: string | null
  readonly subject: string | null
  readonly enabled: number
  readonly created_at: number
  readonly signed_in_at: number | null
}

/** A sign-in session; `SignInSession` describes the fields. */
export interface SignInSessionRow {
  readonly hash: string
  readonly user_name: string
  readonly created_at: number
  readonly used_at: number
  readonly expires_at: number
}

/** Wrong passwords for a name, in total or from one network. */
export interface ConsoleAttemptRow {
  /**
   * Hash of the name, which may belong to no user. In a row of one network a dot and the hash of the network follow.
   */
  readonly subject: string
  readonly attempts: number
  readonly since: number
  /** Unix milliseconds; 0 if not locked. */
  readonly locked_until: number
  /** Last time the right password came from the network; Unix milliseconds, 0 for never. */
  readonly right_at: number
}

/** Tables of console users, their sessions and wrong passwords. */
export interface ConsoleTables {
  readonly console_users: ConsoleUserRow
  readonly console_sessions: SignInSessionRow
  readonly console_attempts: ConsoleAttemptRow
}
