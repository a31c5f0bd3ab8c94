import type { Migration } from './migration.ts'

/** Marks rows with estimated tokens. Requests cancelled by their callers (499) no longer count as failed. */
export const ESTIMATED_USAGE: Migration = {
  name: '008-estimated-usage',
  statements: () => [
    'alter table usage_rows add column estimated integer not null default 0',
    'update usage_series set failed = 0 where status = 499',
  ],
}
