-- Migration 009-signatures, as released in 0.1.0, and rows of a store with it. Never edited.
create table if not exists signatures (hash text not null primary key, issuer text not null, expires_at bigint not null);
create index if not exists signatures_by_expiry on signatures (expires_at);
insert into signatures values ('sig-1', 'anthropic', 9000000000000000);
