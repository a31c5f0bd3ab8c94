import type { Migration } from './migration.ts'

/** Marks rows whose tokens are an estimate. Requests that their callers left no longer count as failed. */
export const ESTIMATED_USAGE: Migration = {
  name: '008-estimated-usage',
  statements: () => [
    'alter table usage_rows add column estimated integer not null default 0',
    'update usage_series set failed = 0 where status = 499',
  ],
}
