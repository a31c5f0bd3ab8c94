import { type Kysely, sql } from 'kysely'

/** One response, without the items of its answer. */
export interface TurnRow {
  readonly owner: string
  readonly id: string
  readonly previous: string | null
  readonly channel: string | null
  /** 1 where that channel's upstream keeps it, too. */
  readonly remembered: number
  /** The response object as JSON, its output left out. */
  readonly response: string
  /** A JSON list of the events of its stream. */
  readonly tape: string | null
  readonly created_at: number
  readonly expires_at: number
  readonly lease: number | null
  /** 1 where only the id is left. */
  readonly gone: number
}

/** One item of a turn or of a conversation. */
export interface ItemRow {
  readonly owner: string
  /** The id of the turn or conversation. */
  readonly parent: string
  /** Where it stands there, from 0. */
  readonly place: number
  readonly id: string
  /** 1 where the model made it. */
  readonly made: number
  /** The channel whose upstream made it. */
  readonly channel: string | null
  /** 1 where that upstream knows it by its id. */
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

export interface Tables {
  readonly turns: TurnRow
  readonly items: ItemRow
  readonly conversations: ConversationRow
}

export type Database = Kysely<Tables>

const TABLES = [
  `create table if not exists turns (owner text not null, id text not null, previous text, channel text,
    remembered integer not null, response text not null, tape text, created_at bigint not null, expires_at bigint not null, lease bigint,
    gone integer not null, primary key (owner, id))`,
  'create index if not exists turns_by_id on turns (id)',
  'create index if not exists turns_by_previous on turns (owner, previous)',
  'create index if not exists turns_by_expiry on turns (expires_at)',
  `create table if not exists items (owner text not null, parent text not null, place integer not null,
    id text not null, made integer not null, channel text, remembered integer not null, item text not null, kept_at bigint not null,
    primary key (owner, parent, place))`,
  'create index if not exists items_by_id on items (id)',
  `create table if not exists conversations (owner text not null, id text not null, metadata text not null,
    created_at bigint not null, expires_at bigint not null, gone integer not null, primary key (owner, id))`,
  'create index if not exists conversations_by_id on conversations (id)',
  'create index if not exists conversations_by_expiry on conversations (expires_at)',
  'create table if not exists probes (sample text not null)',
]

/** Makes what is missing of the tables; several processes may do so at once. */
export async function makeTables(database: Database): Promise<void> {
  for (const table of TABLES) await sql.raw(table).execute(database)
}
