/** A user of the console; `ConsoleUser` describes the fields. */
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

export interface ConsoleSessionRow {
  readonly hash: string
  readonly user_name: string
  readonly created_at: number
  readonly used_at: number
  readonly expires_at: number
}

/** How often a password was tried without success: for one name, or for a name from one network. */
export interface ConsoleAttemptRow {
  /** A hash of the name, which may be no user's; of a network, a point and its hash follow. */
  readonly subject: string
  readonly attempts: number
  readonly since: number
  /** 0 where it is not locked. */
  readonly locked_until: number
  /** When the password was right from the network, in Unix milliseconds; 0 for never. */
  readonly right_at: number
}

export interface ConsoleTables {
  readonly console_users: ConsoleUserRow
  readonly console_sessions: ConsoleSessionRow
  readonly console_attempts: ConsoleAttemptRow
}
