-- Migration 010-failures, as released in 0.1.0, and rows of a store with it. Never edited.
alter table usage_rows add column failure text;
create index if not exists usage_rows_with_failures on usage_rows (at) where failure is not null;
insert into usage_rows values (1790000003000, 'req_4', 1, 'gpt-5.6', 'gpt-5.6-2026', 1, 1, 'upstream', null, null, null, null, null, null, null, null, null, null, 0, null, null, null, null, 4.5, null, 0, '{"reason":"refused"}');
