import type { Migration } from './migration.ts'

/**
 * Responses, conversations and video tasks. SQLite files older than the migrations already have most of these tables.
 */
export const RESPONSES: Migration = {
  name: '001-responses',
  statements: () => [
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
    'create table if not exists processes (id text not null primary key, beat_at bigint not null)',
  ],
  later: { turns: { copy: 'text', worker: 'text' } },
}
