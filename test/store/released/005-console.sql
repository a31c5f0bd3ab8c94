-- Migration 005-console, as released in 0.1.0, and rows of a store with it. Never edited.
create table if not exists console_users (name text not null primary key, role text not null, source text not null, password text, subject text, enabled integer not null, created_at bigint not null, signed_in_at bigint);
create unique index if not exists console_users_by_subject on console_users (subject) where subject is not null;
create table if not exists console_sessions (hash text not null primary key, user_name text not null, created_at bigint not null, used_at bigint not null, expires_at bigint not null);
create index if not exists console_sessions_by_user on console_sessions (user_name, created_at);
create index if not exists console_sessions_by_expiry on console_sessions (expires_at);
create table if not exists console_attempts (subject text not null primary key, attempts integer not null, since bigint not null, locked_until bigint not null);
create index if not exists console_attempts_by_time on console_attempts (since);
insert into console_users values ('admin', 'admin', 'password', 'scrypt$x', null, 1, 1790000000000, 1790000000900);
insert into console_users values ('carol', 'viewer', 'oidc', null, 'sub-1', 1, 1790000000000, null);
insert into console_sessions values ('hash-s', 'admin', 1790000000000, 1790000000500, 9000000000000000);
insert into console_attempts values ('name:admin', 2, 1790000000000, 0);
