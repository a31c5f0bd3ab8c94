-- Migration 011-audit, as released in 0.1.0, and rows of a store with it. Never edited.
create table if not exists audit_log (at bigint not null, id text not null, actor text not null, actor_kind text not null, action text not null, kind text not null, target text not null, name text not null, changes text not null, primary key (at, id));
create index if not exists audit_log_by_target on audit_log (kind, target, at);
insert into audit_log values (1790000000000, 'a-1', 'admin', 'user', 'create', 'key', 'key-1', 'alice', '{"rpm":[null,60]}');
