import type { Migration } from './migration.ts'

/** What requests used. */
export const USAGE: Migration = {
  name: '003-usage',
  statements: () => [],
}
