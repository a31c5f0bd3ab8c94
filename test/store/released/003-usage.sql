-- Migration 003-usage, as released in 0.1.0, and rows of a store with it. Never edited.
create table if not exists usage_series (id bigint not null primary key, key_id text, key_name text, group_name text, model text, channel text, format text not null, upstream_format text, door text not null, status integer not null, failed integer not null);
create table if not exists usage_rows (at bigint not null, id text not null, series bigint not null, model text, upstream_model text, stream integer not null, attempts integer not null, error text, finish text, upstream_id text, input bigint, output bigint, cache_read bigint, cache_write bigint, reasoning bigint, input_audio bigint, output_audio bigint, cost bigint, losses integer not null, read_after double precision, sent_after double precision, answered_after double precision, first_byte_after double precision, duration double precision not null, tries text);
create index if not exists usage_rows_by_time on usage_rows (at, series);
create index if not exists usage_rows_with_losses on usage_rows (at, series) where losses > 0;
create table if not exists usage_hours (at bigint not null, part text not null, data {bytes} not null, primary key (at, part));
create table if not exists usage_days (at bigint not null, part text not null, data {bytes} not null, primary key (at, part));
create table if not exists usage_spent (key_id text not null, day bigint not null, cost bigint not null, primary key (key_id, day));
create table if not exists usage_sweeps (name text not null primary key, until bigint not null);
insert into usage_series values (1, 'key-1', 'alice', 'team', 'gpt-5.6', 'openai', 'chat', 'chat', '/v1/chat/completions', 200, 0);
insert into usage_series values (2, 'key-1', 'alice', 'team', 'gpt-5.6', 'openai', 'chat', 'chat', '/v1/chat/completions', 499, 1);
insert into usage_rows values (1790000000000, 'req_1', 1, 'gpt-5.6', 'gpt-5.6-2026', 1, 1, null, 'stop', 'chatcmpl-1', 12, 34, 0, null, 5, null, null, 1234567, 1, 0.5, 1.5, 250.25, 300.5, 812.75, null);
insert into usage_rows values (1790000001000, 'req_2', 2, 'gpt-5.6', 'gpt-5.6-2026', 0, 2, 'cancelled', null, null, null, null, null, null, null, null, null, null, 0, null, null, null, null, 10.5, '[{"channel":"openai","status":500}]');
insert into usage_hours values (1789999200000, 'part-1', {bytes:00010203});
insert into usage_days values (1789948800000, 'part-1', {bytes:0a0b0c});
insert into usage_spent values ('key-1', 20717, 1234567);
insert into usage_sweeps values ('rows', 1789900000000);
