-- Migration 013-loss-kinds, as released in 0.1.0, and rows of a store with it. Never edited.
alter table usage_rows add column loss_kinds text;
insert into usage_rows values (1790000004000, 'req_5', 1, 'gpt-5.6', 'gpt-5.6-2026', 1, 1, null, 'stop', 'chatcmpl-5', 9, 9, 0, null, 0, null, null, 99, 2, 0.5, 1.5, 2.5, 3.5, 4.5, null, 0, null, '1,1,0');
