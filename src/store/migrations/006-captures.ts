import type { Migration } from './migration.ts'

/** Captured requests. */
export const CAPTURES: Migration = {
  name: '006-captures',
  statements: ({ bytes }) => [
    `create table if not exists captures (id text not null primary key, at bigint not null, key_id text,
    size bigint not null, expires_at bigint not null, data ${bytes} not null)`,
    'create index if not exists captures_by_time on captures (at, id, size)',
    'create index if not exists captures_by_expiry on captures (expires_at)',
  ],
}
