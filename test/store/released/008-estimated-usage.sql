-- Migration 008-estimated-usage, as released in 0.1.0, and rows of a store with it. Never edited.
alter table usage_rows add column estimated integer not null default 0;
update usage_series set failed = 0 where status = 499;
insert into usage_rows values (1790000002000, 'req_3', 1, 'gpt-5.6', 'gpt-5.6-2026', 1, 1, null, 'stop', 'chatcmpl-3', 9, 9, 0, null, 0, null, null, 99, 0, 0.5, 1.5, 2.5, 3.5, 4.5, null, 1);
