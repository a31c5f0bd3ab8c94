import { RESPONSES } from './001-responses.ts'
import { ACCESS } from './002-access.ts'
import { USAGE } from './003-usage.ts'
import { SHARED } from './004-shared.ts'
import { CONSOLE } from './005-console.ts'
import { CAPTURES } from './006-captures.ts'
import { PASSWORD_TRIES } from './007-password-tries.ts'
import { ESTIMATED_USAGE } from './008-estimated-usage.ts'
import type { Migration } from './migration.ts'

/** All migrations, in the order they are applied. */
export const MIGRATIONS: readonly Migration[] = [
  RESPONSES,
  ACCESS,
  USAGE,
  SHARED,
  CONSOLE,
  CAPTURES,
  PASSWORD_TRIES,
  ESTIMATED_USAGE,
]
