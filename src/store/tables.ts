import type { Kysely } from 'kysely'
import type { AccessTables } from './access-tables.ts'
import type { CaptureTables } from './capture-tables.ts'
import type { ConsoleTables } from './console-tables.ts'
import type { SharedTables } from './shared-tables.ts'
import type { UsageTables } from './usage-tables.ts'

/** One response, without the items of its answer. */
export interface TurnRow {
  readonly owner: string
  readonly id: string
  readonly previous: string | null
  readonly channel: string | null
  /** 1 where that channel's upstream stores it, too. */
  readonly remembered: number
  /** The upstream's id of it, where it differs. */
  readonly copy: string | null
  /** The response object as JSON, its output left out. */
  readonly response: string
  readonly created_at: number
  readonly expires_at: number
  readonly lease: number | null
  /** The process that works on it. */
  readonly worker: string | null
  /** 1 where it was deleted and only the id is left. */
  readonly gone: number
}

/** One item of a turn or of a conversation. */
export interface ItemRow {
  readonly owner: string
  /** The id of the turn or conversation. */
  readonly parent: string
  /** Its position there, from 0. */
  readonly place: number
  readonly id: string
  /** 1 where the model made it. */
  readonly made: number
  /** The channel whose upstream made it. */
  readonly channel: string | null
  /** 1 where that upstream has it under the same id. */
  readonly remembered: number
  readonly item: string
  readonly kept_at: number
}

export interface ConversationRow {
  readonly owner: string
  readonly id: string
  readonly metadata: string
  readonly created_at: number
  readonly expires_at: number
  readonly gone: number
}

/** Some events of an unfinished response, as they were sent. */
export interface EventsRow {
  readonly owner: string
  /** The id of the turn. */
  readonly parent: string
  /** The number of the first of them. */
  readonly first: number
  readonly count: number
  /** A JSON list of their texts. */
  readonly texts: string
}

/** One video task; `StoredTask` describes the fields. */
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
  /** How far the state is: it only grows. */
  readonly rank: number
  /** Settings of the request, and the latest answer, as JSON. */
  readonly output: string
  readonly result: string
  readonly prompt: string | null
  readonly idempotency_key: string | null
  readonly reference: string | null
  readonly remix_of: string | null
  readonly worker: string
  readonly misses: number
  readonly created_at: number
  readonly polled_at: number
  readonly expires_at: number
  readonly file_size: number | null
}

/** A process that shares a server with others; not used in files. */
export interface ProcessRow {
  readonly id: string
  /** When it last said that it is alive, by the server's clock. */
  readonly beat_at: number
}

export interface Tables extends AccessTables, ConsoleTables, UsageTables, SharedTables, CaptureTables {
  readonly tasks: TaskRow
  readonly turns: TurnRow
  readonly events: EventsRow
  readonly items: ItemRow
  readonly conversations: ConversationRow
  readonly processes: ProcessRow
}

export type Database = Kysely<Tables>
