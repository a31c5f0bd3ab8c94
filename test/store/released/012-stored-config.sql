-- Migration 012-stored-config, as released in 0.1.0, and rows of a store with it. Never edited.
create table if not exists stored_config (kind text not null, name text not null, settings text not null, secrets text, key_id text, created_at bigint not null, updated_at bigint not null, dropped integer not null, version bigint not null, primary key (kind, name));
insert into stored_config values ('channel', 'own', '{"provider":"openai","models":["gpt-5.6"]}', null, null, 1790000000000, 1790000000000, 0, 4);
