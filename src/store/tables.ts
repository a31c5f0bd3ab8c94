import { type Kysely, sql } from 'kysely'

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

export interface Tables {
  readonly tasks: TaskRow
  readonly turns: TurnRow
  readonly events: EventsRow
  readonly items: ItemRow
  readonly conversations: ConversationRow
}

export type Database = Kysely<Tables>

const TABLES = [
  `create table if not exists turns (owner text not null, id text not null, previous text, channel text,
    remembered integer not null, copy text, response text not null, created_at bigint not null, expires_at bigint not null, lease bigint,
    worker text, gone integer not null, primary key (owner, id))`,
  'create index if not exists turns_by_id on turns (id)',
  'create index if not exists turns_by_previous on turns (owner, previous)',
  'create index if not exists turns_by_expiry on turns (expires_at)',
  `create table if not exists items (owner text not null, parent text not null, place integer not null,
    id text not null, made integer not null, channel text, remembered integer not null, item text not null, kept_at bigint not null,
    primary key (owner, parent, place))`,
  'create index if not exists items_by_id on items (id)',
  `create table if not exists events (owner text not null, parent text not null, first integer not null,
    count integer not null, texts text not null, primary key (owner, parent, first))`,
  `create table if not exists conversations (owner text not null, id text not null, metadata text not null,
    created_at bigint not null, expires_at bigint not null, gone integer not null, primary key (owner, id))`,
  'create index if not exists conversations_by_id on conversations (id)',
  'create index if not exists conversations_by_expiry on conversations (expires_at)',
  `create table if not exists tasks (owner text not null, id text not null, model text not null, channel text not null,
    format text not null, upstream_model text not null, upstream_id text, made_from text not null, state text not null,
    rank integer not null, output text not null, result text not null, prompt text, idempotency_key text, reference text,
    remix_of text, worker text not null, misses integer not null, created_at bigint not null, polled_at bigint not null,
    expires_at bigint not null, file_size bigint, primary key (owner, id))`,
  'create unique index if not exists tasks_by_key on tasks (owner, idempotency_key)',
  'create index if not exists tasks_by_time on tasks (owner, created_at, id)',
  'create index if not exists tasks_by_rank on tasks (rank, polled_at)',
  'create index if not exists tasks_by_expiry on tasks (expires_at)',
  'create table if not exists probes (sample text not null)',
]

/** Columns of `turns` that older files do not have. */
const LATER = ['copy', 'worker'] as const

/** Creates missing tables and columns; several processes may do so at once. */
export async function makeTables(database: Database): Promise<void> {
  for (const table of TABLES) await sql.raw(table).execute(database)
  for (const column of await lacking(database)) await addColumn(database, column)
}

async function lacking(database: Database): Promise<readonly string[]> {
  const tables = await database.introspection.getTables()
  const columns = tables.find(({ name }) => name === 'turns')?.columns.map(({ name }) => name) ?? []
  return LATER.filter(column => !columns.includes(column))
}

async function addColumn(database: Database, column: string): Promise<void> {
  try {
    await database.schema.alterTable('turns').addColumn(column, 'text').execute()
  } catch (thrown) {
    if ((await lacking(database)).includes(column)) throw thrown
  }
}
