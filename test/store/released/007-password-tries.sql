-- Migration 007-password-tries, as released in 0.1.0, and rows of a store with it. Never edited.
alter table console_attempts add column right_at bigint not null default 0;
insert into console_attempts values ('network:10.0.0.0/24', 1, 1790000000000, 0, 1790000000700);
