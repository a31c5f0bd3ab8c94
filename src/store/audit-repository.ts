import { isObject, parseJson } from '../canonical/node.ts'
import type { AuditEntry, AuditPage, AuditRecords, EntryOf } from './audit-records.ts'
import type { Database } from './tables.ts'
import { plainText } from './usage-series.ts'

/** Maximum number of characters of the changes as JSON. Of longer changes, only the first field names are stored. */
const MAX_CHANGES_LENGTH = 100_000

/** Maximum number of field names stored for changes that are too long. */
const MAX_FIELD_NAMES = 200
/** Maximum length of such a field name, in characters. */
const MAX_FIELD_NAME_LENGTH = 200

/** Formats changes as complete JSON of at most `MAX_CHANGES_LENGTH` characters. */
function textOf(changes: AuditEntry['changes']): string {
  const text = JSON.stringify(changes)
  if (text.length <= MAX_CHANGES_LENGTH) return text
  const names = changes
    .slice(0, MAX_FIELD_NAMES)
    .map(({ field }) => ({ field: plainText(field, MAX_FIELD_NAME_LENGTH) }))
  // JSON writes a control character as six characters, so that fewer names may fit.
  for (let count = names.length; ; count >>= 1) {
    const shortText = JSON.stringify(names.slice(0, count))
    if (shortText.length <= MAX_CHANGES_LENGTH) return shortText
  }
}

/** Parses the changes of an entry. Those of a damaged row are unknown, so that the other entries can be read. */
function changesIn(text: string): AuditEntry['changes'] {
  const changes = parseJson(text)
  return Array.isArray(changes) && changes.every(isObject) ? (changes as unknown as AuditEntry['changes']) : []
}

/** Stores the entry of a change in the transaction of the change. */
export async function addEntry<Thing>(
  database: Database,
  entryOf: EntryOf<Thing> | undefined,
  before: Thing | undefined,
  after: Thing | undefined,
): Promise<void> {
  const entry = entryOf?.(before, after)
  if (entry !== undefined) await insertEntry(database, entry)
}

async function insertEntry(database: Database, { actorKind, changes, ...entry }: AuditEntry): Promise<void> {
  await database
    .insertInto('audit_log')
    .values({
      ...{ ...entry, actor: plainText(entry.actor)!, name: plainText(entry.name)!, target: plainText(entry.target)! },
      ...{ actor_kind: actorKind, changes: plainText(textOf(changes), MAX_CHANGES_LENGTH)! },
    })
    .execute()
}

/** The repository of the audit log. */
export class AuditRepository implements AuditRecords {
  private readonly database: Database

  constructor(database: Database) {
    this.database = database
  }

  add(entry: AuditEntry): Promise<void> {
    return insertEntry(this.database, entry)
  }

  async list({ since, until, limit, kind, target, actor, after }: AuditPage) {
    const position = /^(\d{1,15})\.(.+)$/.exec(after ?? '')
    let query = this.database
      .selectFrom('audit_log')
      .selectAll()
      .where('at', '>=', since)
      // One upper bound only: of two, SQLite may seek to the one that is further away.
      .where('at', '<', position === null ? until : Math.min(until, Number(position[1]) + 1))
    if (kind !== undefined) query = query.where('kind', '=', kind)
    if (target !== undefined) query = query.where('target', '=', target)
    if (actor !== undefined) query = query.where('actor', '=', actor)
    if (position !== null) {
      const [, at, id] = position
      query = query.where(row => row.or([row('at', '<', Number(at)), row('id', '<', id!)]))
    }
    const rows = await query
      .orderBy('at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit + 1)
      .execute()
    const entries = rows.slice(0, limit).map(
      ({ actor_kind: actorKind, changes, at, ...row }): AuditEntry => ({
        ...row,
        ...{ at: Number(at), actorKind: actorKind as AuditEntry['actorKind'], kind: row.kind as AuditEntry['kind'] },
        changes: changesIn(changes),
      }),
    )
    const last = entries.at(-1)
    return { entries, ...(rows.length > limit && last !== undefined ? { next: `${last.at}.${last.id}` } : {}) }
  }
}
