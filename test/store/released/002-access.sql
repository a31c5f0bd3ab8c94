-- Migration 002-access, as released in 0.1.0, and rows of a store with it. Never edited.
create table if not exists access_versions (id integer not null primary key, begun bigint not null, version bigint not null);
create table if not exists access_keys (id text not null primary key, name text not null, group_name text not null, settings text not null, created_at bigint not null, revoked_at bigint, last_used_at bigint, version bigint not null);
create unique index if not exists access_keys_named on access_keys (name) where revoked_at is null;
create index if not exists access_keys_by_name on access_keys (name, id);
create index if not exists access_keys_by_group on access_keys (group_name, name, id);
create index if not exists access_keys_by_version on access_keys (version);
create table if not exists access_secrets (hash text not null primary key, key_id text not null, prefix text not null, last_four text not null, created_at bigint not null, expires_at bigint);
create index if not exists access_secrets_by_key on access_secrets (key_id);
create table if not exists access_groups (name text not null primary key, settings text not null, created_at bigint not null, dropped integer not null, version bigint not null);
create table if not exists access_channels (channel text not null primary key, drained integer not null, version bigint not null);
create table if not exists admin_tokens (id text not null primary key, name text not null, hash text not null unique, prefix text not null, last_four text not null, created_at bigint not null, expires_at bigint);
insert into access_versions values (1, 1790000000000, 3);
insert into access_keys values ('key-1', 'alice', 'team', '{"rpm":60}', 1790000000000, null, 1790000000500, 2);
insert into access_keys values ('key-2', 'bob', 'default', '{}', 1790000000000, 1790000001000, null, 3);
insert into access_secrets values ('9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08', 'key-1', 'il-', 'abcd', 1790000000000, null);
insert into access_groups values ('team', '{"models":["*"],"rpm":600}', 1790000000000, 0, 1);
insert into access_channels values ('openai', 1, 1);
insert into admin_tokens values ('token-1', 'ops', '5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8', 'ila-', 'wxyz', 1790000000000, null);
