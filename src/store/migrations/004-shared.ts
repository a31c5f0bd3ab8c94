import type { Migration } from './migration.ts'

/** What instances need of each other: pictures, secrets, thoughts. */
export const SHARED: Migration = {
  name: '004-shared',
  statements: () => [],
}
