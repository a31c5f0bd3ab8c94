-- Migration 006-captures, as released in 0.1.0, and rows of a store with it. Never edited.
create table if not exists captures (id text not null primary key, at bigint not null, key_id text, size bigint not null, expires_at bigint not null, data {bytes} not null);
create index if not exists captures_by_time on captures (at, id, size);
create index if not exists captures_by_expiry on captures (expires_at);
insert into captures values ('req_1', 1790000000000, 'key-1', 3, 9000000000000000, {bytes:010203});
