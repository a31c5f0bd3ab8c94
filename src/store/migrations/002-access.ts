import type { Migration } from './migration.ts'

/** Keys, groups, drained channels and admin tokens. */
export const ACCESS: Migration = {
  name: '002-access',
  statements: () => [
    `create table if not exists access_versions (id integer not null primary key, begun bigint not null,
    version bigint not null)`,
    `create table if not exists access_keys (id text not null primary key, name text not null, group_name text not null,
    settings text not null, created_at bigint not null, revoked_at bigint, last_used_at bigint, version bigint not null)`,
    'create unique index if not exists access_keys_named on access_keys (name) where revoked_at is null',
    'create index if not exists access_keys_by_name on access_keys (name, id)',
    'create index if not exists access_keys_by_group on access_keys (group_name, name, id)',
    'create index if not exists access_keys_by_version on access_keys (version)',
    `create table if not exists access_secrets (hash text not null primary key, key_id text not null, prefix text not null,
    last_four text not null, created_at bigint not null, expires_at bigint)`,
    'create index if not exists access_secrets_by_key on access_secrets (key_id)',
    `create table if not exists access_groups (name text not null primary key, settings text not null,
    created_at bigint not null, dropped integer not null, version bigint not null)`,
    `create table if not exists access_channels (channel text not null primary key, drained integer not null,
    version bigint not null)`,
    `create table if not exists admin_tokens (id text not null primary key, name text not null, hash text not null unique,
    prefix text not null, last_four text not null, created_at bigint not null, expires_at bigint)`,
  ],
}
