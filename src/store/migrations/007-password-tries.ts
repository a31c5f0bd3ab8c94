import type { Migration } from './migration.ts'

/** Records when a network last sent the right password. */
export const PASSWORD_TRIES: Migration = {
  name: '007-password-tries',
  statements: () => ['alter table console_attempts add column right_at bigint not null default 0'],
}
