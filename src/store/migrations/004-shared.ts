import type { Migration } from './migration.ts'

/** State shared between instances: images, secrets, locks, notes and encrypted reasoning. */
export const SHARED: Migration = {
  name: '004-shared',
  statements: ({ bytes }) => [
    'create table if not exists secrets (name text not null primary key, value text not null)',
    'create table if not exists locks (name text not null primary key, turn bigint not null)',
    `create table if not exists pictures (id text not null primary key, media_type text not null, size bigint not null,
    place bigint not null, expires_at bigint not null)`,
    'create index if not exists pictures_by_place on pictures (place)',
    'create index if not exists pictures_by_expiry on pictures (expires_at)',
    `create table if not exists picture_bytes (picture text not null, number integer not null, bytes ${bytes} not null,
    primary key (picture, number))`,
    `create table if not exists notes (kind text not null, name text not null, owner text not null, text text not null,
    expires_at bigint not null, primary key (kind, name))`,
    'create index if not exists notes_by_owner on notes (kind, owner, expires_at)',
    'create index if not exists notes_by_expiry on notes (expires_at)',
    'create table if not exists thoughts (id text not null primary key, text text not null, expires_at bigint not null)',
    'create index if not exists thoughts_by_expiry on thoughts (expires_at)',
    `create table if not exists thought_names (name text not null primary key, thought text not null,
    step integer not null)`,
    'create index if not exists thought_names_by_thought on thought_names (thought)',
  ],
}
