import { defined } from '../canonical/node.ts'
import { plain } from './access-rows.ts'
import type { ConsoleUser, Role, SignInSession, UserSource } from './console-records.ts'
import type { ConsoleUserRow, SignInSessionRow } from './console-tables.ts'

/** Builds a user from a row. */
export const userOf = (row: ConsoleUserRow): ConsoleUser => ({
  ...{ name: row.name, role: row.role as Role, source: row.source as UserSource, enabled: row.enabled === 1 },
  createdAt: Number(row.created_at),
  ...defined({
    password: row.password ?? undefined,
    subject: row.subject ?? undefined,
    signedInAt: row.signed_in_at === null ? undefined : Number(row.signed_in_at),
  }),
})

export const userRowOf = (user: ConsoleUser): ConsoleUserRow => ({
  ...{ name: plain(user.name), role: user.role, source: user.source, enabled: user.enabled ? 1 : 0 },
  ...{ password: user.password ?? null, subject: user.subject === undefined ? null : plain(user.subject) },
  ...{ created_at: user.createdAt, signed_in_at: user.signedInAt ?? null },
})

/** Builds a sign-in session from a row. */
export const sessionOf = (row: SignInSessionRow): SignInSession => ({
  ...{ hash: row.hash, user: row.user_name, createdAt: Number(row.created_at) },
  ...{ usedAt: Number(row.used_at), expiresAt: Number(row.expires_at) },
})

export const sessionRowOf = (session: SignInSession): SignInSessionRow => ({
  ...{ hash: session.hash, user_name: plain(session.user), created_at: session.createdAt },
  ...{ used_at: session.usedAt, expires_at: session.expiresAt },
})
