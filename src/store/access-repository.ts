import { groupNamed, hasKeys, isGroup, isKnown, isNamed, keyById, secretsOf, withSecrets } from './access-queries.ts'
import type {
  AccessChanges,
  AccessRecords,
  AdminToken,
  KeyChange,
  KeyPage,
  KeySecret,
  StoredGroup,
  StoredKey,
} from './access-records.ts'
import {
  groupOf,
  groupRowOf,
  isSameRow,
  keyOf,
  keyRowOf,
  laterSettingsOf,
  plain,
  secretRowOf,
  tokenOf,
  tokenRowOf,
} from './access-rows.ts'
import { Unchanged, underNewVersion } from './access-version.ts'
import type { AuditedConfig, EntryOf } from './audit-records.ts'
import { addEntry } from './audit-repository.ts'
import { configEntries } from './config-repository.ts'
import { durably } from './durable.ts'
import { lock } from './locks.ts'
import { CLOCK_DIFFERENCE } from './store-clock.ts'
import type { Database } from './tables.ts'

/** The repository of keys, groups, drained channels and admin tokens. Other processes follow the changes by version. */
export class AccessRepository implements AccessRecords {
  private readonly database: Database
  private readonly now: () => number

  /** @param now Unix time in milliseconds. */
  constructor(database: Database, now: () => number) {
    this.database = database
    this.now = now
  }

  async changes(known: number): Promise<AccessChanges> {
    const { database } = this
    // Read the version before the rows: all rows up to that version are visible by then.
    const counter = await database.selectFrom('access_versions').selectAll().executeTakeFirst()
    const [begun, version] = counter === undefined ? [0, 0] : [Number(counter.begun), Number(counter.version)]
    if (known === version) return { version, keys: [], groups: [], droppedGroups: [] }
    const isWhole = known < begun || known > version
    const since = isWhole ? -1 : known
    const keys = await database.selectFrom('access_keys').selectAll().where('version', '>', since).execute()
    const secrets = await database
      .selectFrom('access_secrets')
      .innerJoin('access_keys', 'access_keys.id', 'access_secrets.key_id')
      .selectAll('access_secrets')
      .where('access_keys.version', '>', since)
      .orderBy('access_secrets.created_at', 'desc')
      .orderBy('access_secrets.hash')
      .execute()
    const groups = await database.selectFrom('access_groups').selectAll().where('version', '>', since).execute()
    const channels = await database.selectFrom('access_channels').selectAll().orderBy('channel').execute()
    return {
      version,
      keys: withSecrets(keys, secrets),
      groups: groups.filter(({ dropped }) => dropped === 0).map(groupOf),
      droppedGroups: groups.filter(({ dropped }) => dropped === 1).map(({ name }) => name),
      ...(isWhole ? { whole: true } : {}),
      ...(isWhole || channels.some(row => Number(row.version) > since)
        ? { drained: channels.filter(({ drained }) => drained === 1).map(({ channel }) => channel) }
        : {}),
      ...(isWhole || (await isConfigChanged(database, since)) ? { config: await configEntries(database) } : {}),
    }
  }

  createKey(key: StoredKey, needsGroup = false, entryOf?: EntryOf<StoredKey>): Promise<boolean> {
    return this.change(async (database, version) => {
      if (needsGroup && !(await isGroup(database, key.group))) return false
      if ((await keyById(database, key.id)) !== undefined || (await isNamed(database, plain(key.name)))) return false
      const hashes = key.secrets.map(({ hash }) => hash)
      if (await isKnown(database, hashes)) return false
      await database.insertInto('access_keys').values(keyRowOf(key, version)).execute()
      const rows = key.secrets.map(secret => secretRowOf(key.id, secret))
      if (rows.length > 0) await database.insertInto('access_secrets').values(rows).execute()
      await addEntry(database, entryOf, undefined, key)
      return true
    }, false)
  }

  async key(id: string): Promise<StoredKey | undefined> {
    return keyById(this.database, id)
  }

  async keyNamed(name: string): Promise<StoredKey | undefined> {
    const row = await this.database
      .selectFrom('access_keys')
      .selectAll()
      .where('name', '=', plain(name))
      .where('revoked_at', 'is', null)
      .executeTakeFirst()
    return row && keyOf(row, await secretsOf(this.database, [row.id]))
  }

  async keys({ limit, after, group, name, revoked = false }: KeyPage): Promise<readonly StoredKey[]> {
    let query = this.database.selectFrom('access_keys').selectAll()
    if (!revoked) query = query.where('revoked_at', 'is', null)
    if (group !== undefined) query = query.where('group_name', '=', plain(group))
    if (name !== undefined) query = query.where('name', '=', plain(name))
    if (after !== undefined) {
      const last = plain(after.name)
      query = query.where('name', '>=', last).where(row => row.or([row('name', '>', last), row('id', '>', after.id)]))
    }
    const rows = await query
      .orderBy('name')
      .orderBy('id')
      .limit(limit + 1)
      .execute()
    const ids = rows.map(({ id }) => id)
    return withSecrets(rows, ids.length === 0 ? [] : await secretsOf(this.database, ids))
  }

  changeKey(
    id: string,
    keyChange: KeyChange | ((key: StoredKey) => KeyChange),
    needsGroup = false,
    entryOf?: EntryOf<StoredKey>,
  ): Promise<StoredKey | 'taken' | undefined> {
    return this.change<StoredKey | 'taken' | undefined>(
      async (database, version) => {
        const key = await keyById(database, id)
        if (key === undefined || key.revokedAt !== undefined) return undefined
        const change = typeof keyChange === 'function' ? keyChange(key) : keyChange
        const next: StoredKey = { ...key, ...(change as Partial<StoredKey>), id, name: change.name ?? key.name }
        if (needsGroup && !(await isGroup(database, next.group))) return undefined
        if (plain(next.name) !== key.name && (await isNamed(database, plain(next.name)))) return 'taken'
        const row = keyRowOf(
          { ...next, group: change.group ?? key.group, limits: next.limits ?? {}, enabled: next.enabled ?? true },
          version,
          laterSettingsOf(key),
        )
        if (isSameRow(row, keyRowOf(key, version, laterSettingsOf(key)))) return new Unchanged(key)
        const { name, group_name, settings } = row
        await database
          .updateTable('access_keys')
          .set({ name, group_name, settings, version })
          .where('id', '=', id)
          .execute()
        const changed = await keyById(database, id)
        await addEntry(database, entryOf, key, changed)
        return changed
      },
      undefined,
      'taken',
    )
  }

  revokeKey(id: string, at: number, entryOf?: EntryOf<StoredKey>): Promise<boolean> {
    return this.change(async (database, version) => {
      const key = await keyById(database, id)
      const { numUpdatedRows } = await database
        .updateTable('access_keys')
        .set({ revoked_at: at, version })
        .where('id', '=', id)
        .where('revoked_at', 'is', null)
        .executeTakeFirst()
      if (numUpdatedRows === 0n) return false
      await addEntry(database, entryOf, key, await keyById(database, id))
      return true
    }, false)
  }

  rotateKey(
    id: string,
    secret: KeySecret,
    othersUntil: number,
    entryOf?: EntryOf<StoredKey>,
  ): Promise<StoredKey | undefined> {
    return this.change<StoredKey | undefined>(async (database, version) => {
      const key = await keyById(database, id)
      if (await isKnown(database, [secret.hash])) return undefined
      const { numUpdatedRows } = await database
        .updateTable('access_keys')
        .set({ version })
        .where('id', '=', id)
        .where('revoked_at', 'is', null)
        .executeTakeFirst()
      if (numUpdatedRows === 0n) return undefined
      await database
        .updateTable('access_secrets')
        .set({ expires_at: othersUntil })
        .where('key_id', '=', id)
        .where(row => row.or([row('expires_at', 'is', null), row('expires_at', '>', othersUntil)]))
        .execute()
      await database.insertInto('access_secrets').values(secretRowOf(id, secret)).execute()
      const rotated = await keyById(database, id)
      await addEntry(database, entryOf, key, rotated)
      return rotated
    }, undefined)
  }

  async recordUses(at: ReadonlyMap<string, number>): Promise<void> {
    if (at.size === 0) return
    await this.database.transaction().execute(async database => {
      // All processes use the same order, which prevents deadlocks.
      for (const [id, time] of [...at].sort(([a], [b]) => (a < b ? -1 : 1)))
        await database
          .updateTable('access_keys')
          .set({ last_used_at: time })
          .where('id', '=', id)
          .where(row =>
            row.or([
              row('last_used_at', 'is', null),
              row('last_used_at', '<', time),
              // A time so far ahead is of a wrong clock.
              row('last_used_at', '>', this.now() + CLOCK_DIFFERENCE),
            ]),
          )
          .execute()
    })
  }

  async groups(): Promise<readonly StoredGroup[]> {
    const rows = await this.database
      .selectFrom('access_groups')
      .selectAll()
      .where('dropped', '=', 0)
      .orderBy('name')
      .execute()
    return rows.map(groupOf)
  }

  async putGroup(group: StoredGroup): Promise<void> {
    await this.changeGroup(group.name, () => group)
  }

  changeGroup(
    name: string,
    change: (group: StoredGroup | undefined) => StoredGroup | undefined,
    entryOf?: EntryOf<StoredGroup>,
  ): Promise<StoredGroup | undefined> {
    return this.change<StoredGroup | undefined>(async (database, version) => {
      const before = await groupNamed(database, name)
      const group = change(before)
      if (group === undefined) return undefined
      const { name: _, ...row } = groupRowOf(group, version)
      if (before !== undefined && isSameRow(groupRowOf(group, version), groupRowOf(before, version)))
        return new Unchanged(before)
      await database
        .insertInto('access_groups')
        .values({ name: plain(name), ...row })
        .onConflict(conflict => conflict.column('name').doUpdateSet(row))
        .execute()
      await addEntry(database, entryOf, before, group)
      return group
    }, undefined)
  }

  dropGroup(name: string, unusedOnly = false, entryOf?: EntryOf<StoredGroup>): Promise<boolean> {
    return this.change(async (database, version) => {
      if (unusedOnly && (await hasKeys(database, name))) return false
      const group = await groupNamed(database, name)
      if (group === undefined) return false
      await database.updateTable('access_groups').set({ dropped: 1, version }).where('name', '=', plain(name)).execute()
      await addEntry(database, entryOf, group, undefined)
      return true
    }, false)
  }

  drain(name: string, isDrained: boolean, entryOf?: EntryOf<AuditedConfig>): Promise<boolean> {
    const [channel, drained] = [plain(name), isDrained ? 1 : 0]
    return this.change(async (database, version) => {
      const known = await database
        .selectFrom('access_channels')
        .selectAll()
        .where('channel', '=', channel)
        .executeTakeFirst()
      if ((known?.drained ?? 0) === drained) return false
      await database
        .insertInto('access_channels')
        .values({ channel, drained, version })
        .onConflict(conflict => conflict.column('channel').doUpdateSet({ drained, version }))
        .execute()
      const drain = (is: boolean): AuditedConfig => ({ name, settings: {}, drained: is })
      await addEntry(database, entryOf, drain(!isDrained), drain(isDrained))
      return true
    }, false)
  }

  async addToken(token: AdminToken, entryOf?: EntryOf<AdminToken>): Promise<void> {
    await durably(this.database, async one => {
      await one.insertInto('admin_tokens').values(tokenRowOf(token)).execute()
      await addEntry(one, entryOf, undefined, token)
    })
  }

  async tokens(): Promise<readonly AdminToken[]> {
    const rows = await this.database
      .selectFrom('admin_tokens')
      .selectAll()
      .orderBy('created_at')
      .orderBy('id')
      .execute()
    return rows.map(tokenOf)
  }

  async token(hash: string): Promise<AdminToken | undefined> {
    const row = await this.database.selectFrom('admin_tokens').selectAll().where('hash', '=', hash).executeTakeFirst()
    return row && tokenOf(row)
  }

  dropToken(id: string, isForced: boolean, entryOf?: EntryOf<AdminToken>): Promise<'done' | 'last' | 'unknown'> {
    return durably<'done' | 'last' | 'unknown'>(this.database, async one => {
      await lock(one, 'tokens')
      const rows = await one.selectFrom('admin_tokens').selectAll().execute()
      const token = rows.find(row => row.id === id)
      if (token === undefined) return 'unknown'
      const isGood = ({ expiresAt = Number.POSITIVE_INFINITY }: AdminToken) => expiresAt > this.now()
      if (!isForced && !rows.some(row => row.id !== id && isGood(tokenOf(row)))) return 'last'
      await one.deleteFrom('admin_tokens').where('id', '=', id).execute()
      await addEntry(one, entryOf, tokenOf(token), undefined)
      return 'done'
    })
  }

  private change<T>(
    work: (database: Database, version: number) => Promise<T | Unchanged<T>>,
    ...unchangedResult: readonly T[]
  ): Promise<T> {
    return underNewVersion(this.database, this.now(), work, ...unchangedResult)
  }
}

/** Returns true if any stored config entry changed after a version. */
const isConfigChanged = async (database: Database, since: number): Promise<boolean> =>
  (await database.selectFrom('stored_config').select('name').where('version', '>', since).executeTakeFirst()) !==
  undefined
