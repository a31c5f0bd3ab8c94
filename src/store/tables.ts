import type { Kysely } from 'kysely'
import type { AccessTables } from './access-tables.ts'
import type { SharedTables } from './shared-tables.ts'
import type { UsageTables } from './usage-tables.ts'

/** One response, without its output items. */
export interface TurnRow {
  readonly owner: string
  readonly id: string
  readonly previous: string | null
  readonly channel: string | null
  /** 1 if the channel's upstream also stores the response. */
  readonly remembered: number
  /** The upstream's id for the response, if it differs. */
  readonly copy: string | null
  /** The response object as JSON, with an empty `output`. */
  readonly response: string
  readonly created_at: number
  readonly expires_at: number
  readonly lease: number | null
  /** Id of the process that works on the response. */
  readonly worker: string | null
  /** 1 if the response was deleted. The row stays, so that references to the id are refused. */
  readonly gone: number
}

/** One item of a turn or of a conversation. */
export interface ItemRow {
  readonly owner: string
  /** Id of the turn or conversation. */
  readonly parent: string
  /** Position within the parent, from 0. */
  readonly place: number
  readonly id: string
  /** 1 if the model created the item. */
  readonly made: number
  /** The channel whose upstream created the item. */
  readonly channel: string | null
  /** 1 if that upstream stores the item under the same id. */
  readonly remembered: number
  readonly item: string
  readonly kept_at: number
}

/** One conversation. `Conversation` describes the fields. */
export interface ConversationRow {
  readonly owner: string
  readonly id: string
  readonly metadata: string
  readonly created_at: number
  readonly expires_at: number
  readonly gone: number
}

/** A batch of stream events of an unfinished response, as sent. */
export interface EventsRow {
  readonly owner: string
  /** Id of the turn. */
  readonly parent: string
  /** Number of the first event of the batch. */
  readonly first: number
  readonly count: number
  /** JSON array of the event texts. */
  readonly texts: string
}

/** One video task. `StoredTask` describes the fields. */
export interface TaskRow {
  readonly owner: string
  readonly id: string
  readonly model: string
  readonly channel: string
  readonly format: string
  readonly upstream_model: string
  readonly upstream_id: string | null
  readonly made_from: string
  readonly state: string
  /** Progress of the state, as a number that only grows. */
  readonly rank: number
  /** Output settings of the request as JSON. `result` is the upstream's latest answer as JSON. */
  readonly output: string
  readonly result: string
  readonly prompt: string | null
  readonly idempotency_key: string | null
  readonly reference: string | null
  readonly remix_of: string | null
  /** Id of the process that submits the task. */
  readonly worker: string
  /** Number of consecutive polls in which the upstream did not find the task. */
  readonly misses: number
  readonly created_at: number
  /** Time of the last poll, in Unix milliseconds. */
  readonly polled_at: number
  readonly expires_at: number
  readonly file_size: number | null
}

/** Heartbeat of a process that shares a database server. Unused in SQLite files. */
export interface ProcessRow {
  readonly id: string
  /** Time of the last heartbeat by the server's clock, in Unix milliseconds. */
  readonly beat_at: number
}

/** All tables of the store. */
export interface Tables extends AccessTables, ConsoleTables, UsageTables, SharedTables, CaptureTables {
  readonly tasks: TaskRow
  readonly turns: TurnRow
  readonly events: EventsRow
  readonly items: ItemRow
  readonly conversations: ConversationRow
  readonly processes: ProcessRow
}

/** A Kysely database, or a transaction in it. */
export type Database = Kysely<Tables>

/** One captured request. `StoredCapture` describes the fields. */
export interface CaptureRow {
  readonly id: string
  readonly at: number
  readonly key_id: string | null
  /** Size of `data`, in bytes. */
  readonly size: number
  readonly expires_at: number
  readonly data: Uint8Array
}

/** Table of captured requests. */
export interface CaptureTables {
  readonly captures: CaptureRow
}

/** A console user. `ConsoleUser` describes the fields. */
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

/** A sign-in session. `SignInSession` describes the fields. */
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
   * Hash of the name, which may belong to no user. In the row of a network, followed by a dot and the hash of the
   * network.
   */
  readonly subject: string
  readonly attempts: number
  readonly since: number
  /** End of the lockout, in Unix milliseconds. 0 if not locked. */
  readonly locked_until: number
  /** Time at which the network last sent the right password, in Unix milliseconds. 0 for never. */
  readonly right_at: number
}

/** Tables of console users, their sessions and wrong passwords. */
export interface ConsoleTables {
  readonly console_users: ConsoleUserRow
  readonly console_sessions: SignInSessionRow
  readonly console_attempts: ConsoleAttemptRow
}
