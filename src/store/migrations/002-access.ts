import type { Migration } from './migration.ts'

/** Keys, groups, drained channels and tokens of administrators. */
export const ACCESS: Migration = {
  name: '002-access',
  statements: () => [],
}
