import type { Migration } from './migration.ts'

/** When a password was right from where it is tried. */
export const PASSWORD_TRIES: Migration = {
  name: '007-password-tries',
  statements: () => ['alter table console_attempts add column right_at bigint not null default 0'],
}
