import { defined } from '../canonical/node.ts'
import { plain } from './access-rows.ts'
import type { EntryOf } from './audit-records.ts'
import { addEntry } from './audit-repository.ts'
import type {
  ConsoleRecords,
  ConsoleUser,
  LockRules,
  PasswordAttempt,
  Role,
  SignInSession,
  UserChange,
  UserSource,
} from './console-records.ts'
import { durably } from './durable.ts'
import { deleteExpired } from './expired-rows.ts'
import { lock } from './locks.ts'
import { PasswordAttemptRepository } from './password-attempt-repository.ts'
import type { ConsoleUserRow, Database, SignInSessionRow } from './tables.ts'

/** The repository of console users and their sign-in sessions. One enabled administrator always remains. */
export class ConsoleRepository implements ConsoleRecords {
  private readonly database: Database
  private readonly now: () => number
  private readonly passwordTries: PasswordAttemptRepository

  /** @param now Unix time in milliseconds. */
  constructor(database: Database, now: () => number) {
    this.database = database
    this.now = now
    this.passwordTries = new PasswordAttemptRepository(database, now)
  }

  async users(): Promise<readonly ConsoleUser[]> {
    return (await this.database.selectFrom('console_users').selectAll().orderBy('name').execute()).map(userOf)
  }

  async user(name: string): Promise<ConsoleUser | undefined> {
    return userNamed(this.database, name)
  }

  async userOf(subject: string): Promise<ConsoleUser | undefined> {
    const row = await this.database
      .selectFrom('console_users')
      .selectAll()
      .where('subject', '=', plain(subject))
      .executeTakeFirst()
    return row && userOf(row)
  }

  addUser(user: ConsoleUser, isFirst = false, entryOf?: EntryOf<ConsoleUser>): Promise<boolean> {
    return this.change(async transaction => {
      const { subject } = user
      const existing = await transaction
        .selectFrom('console_users')
        .select('name')
        .$if(!isFirst, query =>
          query.where(row =>
            row.or([
              row('name', '=', plain(user.name)),
              ...(subject === undefined ? [] : [row('subject', '=', plain(subject))]),
            ]),
          ),
        )
        .executeTakeFirst()
      if (existing !== undefined) return false
      await transaction.insertInto('console_users').values(userRowOf(user)).execute()
      await addEntry(transaction, entryOf, undefined, user)
      return true
    })
  }

  changeUser(
    name: string,
    change: UserChange,
    except?: string,
    entryOf?: EntryOf<ConsoleUser>,
  ): Promise<ConsoleUser | 'last-admin' | undefined> {
    return this.change(async transaction => {
      const user = await userNamed(transaction, name)
      if (user === undefined) return undefined
      const next = { ...user, ...change }
      if (isAdmin(user) && !isAdmin(next) && !(await hasOtherAdmin(transaction, user.name))) return 'last-admin'
      const { role, enabled, password } = userRowOf(next)
      await transaction
        .updateTable('console_users')
        .set({ role, enabled, password })
        .where('name', '=', user.name)
        .execute()
      if (change.password !== undefined || !next.enabled) await endAll(transaction, user.name, except)
      await addEntry(transaction, entryOf, user, next)
      return next
    })
  }

  setRole(name: string, role: Role, entryOf?: EntryOf<ConsoleUser>): Promise<void> {
    return this.change(async transaction => {
      const user = await userNamed(transaction, name)
      if (user === undefined || user.role === role) return
      await transaction.updateTable('console_users').set({ role }).where('name', '=', user.name).execute()
      await addEntry(transaction, entryOf, user, { ...user, role })
    })
  }

  dropUser(name: string, entryOf?: EntryOf<ConsoleUser>): Promise<'done' | 'last-admin' | 'unknown'> {
    return this.change(async transaction => {
      const user = await userNamed(transaction, name)
      if (user === undefined) return 'unknown'
      if (isAdmin(user) && !(await hasOtherAdmin(transaction, user.name))) return 'last-admin'
      await transaction.deleteFrom('console_users').where('name', '=', user.name).execute()
      await endAll(transaction, user.name)
      await addEntry(transaction, entryOf, user, undefined)
      return 'done'
    })
  }

  openSignInSession(session: SignInSession, password: string | undefined, maxSessions: number): Promise<boolean> {
    return this.change(async transaction => {
      const user = await userNamed(transaction, session.user)
      if (user?.enabled !== true || user.password !== password) return false
      await transaction.insertInto('console_sessions').values(sessionRowOf(session)).execute()
      await transaction
        .updateTable('console_users')
        .set({ signed_in_at: session.createdAt })
        .where('name', '=', user.name)
        .execute()
      await endOldest(transaction, user.name, maxSessions)
      return true
    })
  }

  async signInSession(
    hash: string,
  ): Promise<{ readonly session: SignInSession; readonly user: ConsoleUser } | undefined> {
    const row = await this.database
      .selectFrom('console_sessions')
      .selectAll()
      .where('hash', '=', hash)
      .where('expires_at', '>', this.now())
      .executeTakeFirst()
    const user = row && (await userNamed(this.database, row.user_name))
    return user?.enabled === true ? { session: sessionOf(row!), user } : undefined
  }

  async touchSignInSession(hash: string, at: number): Promise<void> {
    await this.database
      .updateTable('console_sessions')
      .set({ used_at: at })
      .where('hash', '=', hash)
      .where('used_at', '<', at)
      .execute()
  }

  async endSignInSession(hash: string): Promise<boolean> {
    const { numDeletedRows } = await durably(this.database, one =>
      one.deleteFrom('console_sessions').where('hash', '=', hash).executeTakeFirst(),
    )
    return numDeletedRows === 1n
  }

  endSignInSessions(name: string, entryOf?: EntryOf<ConsoleUser>): Promise<number | undefined> {
    return this.change(async transaction => {
      const user = await userNamed(transaction, name)
      if (user === undefined) return undefined
      const count = await endAll(transaction, user.name)
      await addEntry(transaction, entryOf, user, user)
      return count
    })
  }

  attempt(attempt: PasswordAttempt, rules: LockRules): Promise<number | undefined> {
    return this.passwordTries.count(attempt, rules)
  }

  forgive(attempt: PasswordAttempt): Promise<void> {
    return this.passwordTries.forgive(attempt)
  }

  unlock(account: string): Promise<void> {
    return this.passwordTries.unlock(account)
  }

  async sweep(before = this.now()): Promise<void> {
    await deleteExpired(this.database, 'console_sessions', before)
    await this.passwordTries.sweep(before)
  }

  /** Runs a change of users or sessions under a lock that serialises such changes across processes. */
  private change<T>(work: (transaction: Database) => Promise<T>): Promise<T> {
    return durably(this.database, async transaction => {
      await lock(transaction, 'console')
      return work(transaction)
    })
  }
}

const isAdmin = ({ role, enabled }: ConsoleUser): boolean => role === 'admin' && enabled

async function userNamed(database: Database, name: string): Promise<ConsoleUser | undefined> {
  const row = await database.selectFrom('console_users').selectAll().where('name', '=', plain(name)).executeTakeFirst()
  return row && userOf(row)
}

async function hasOtherAdmin(database: Database, name: string): Promise<boolean> {
  const row = await database
    .selectFrom('console_users')
    .select('name')
    .where('role', '=', 'admin')
    .where('enabled', '=', 1)
    .where('name', '!=', name)
    .executeTakeFirst()
  return row !== undefined
}

async function endAll(database: Database, user: string, except?: string): Promise<number> {
  const { numDeletedRows } = await database
    .deleteFrom('console_sessions')
    .where('user_name', '=', user)
    .$if(except !== undefined, query => query.where('hash', '!=', except!))
    .executeTakeFirst()
  return Number(numDeletedRows)
}

/** Ends the oldest sessions of a user beyond `maxSessions`. */
async function endOldest(database: Database, user: string, maxSessions: number): Promise<void> {
  const rows = await database
    .selectFrom('console_sessions')
    .select('hash')
    .where('user_name', '=', user)
    .orderBy('created_at', 'desc')
    .orderBy('hash')
    .execute()
  const hashes = rows.slice(maxSessions).map(({ hash }) => hash)
  if (hashes.length > 0) await database.deleteFrom('console_sessions').where('hash', 'in', hashes).execute()
}

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

const userRowOf = (user: ConsoleUser): ConsoleUserRow => ({
  ...{ name: plain(user.name), role: user.role, source: user.source, enabled: user.enabled ? 1 : 0 },
  ...{ password: user.password ?? null, subject: user.subject === undefined ? null : plain(user.subject) },
  ...{ created_at: user.createdAt, signed_in_at: user.signedInAt ?? null },
})

/** Builds a sign-in session from a row. */
export const sessionOf = (row: SignInSessionRow): SignInSession => ({
  ...{ hash: row.hash, user: row.user_name, createdAt: Number(row.created_at) },
  ...{ usedAt: Number(row.used_at), expiresAt: Number(row.expires_at) },
})

const sessionRowOf = (session: SignInSession): SignInSessionRow => ({
  ...{ hash: session.hash, user_name: plain(session.user), created_at: session.createdAt },
  ...{ used_at: session.usedAt, expires_at: session.expiresAt },
})
