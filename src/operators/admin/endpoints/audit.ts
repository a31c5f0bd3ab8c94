import * as v from 'valibot'
import { defined } from '../../../canonical/node.ts'
import { fields, instantOf, limit, oneOf, since, word } from '../../../config/schema.ts'
import { AUDITED, type AuditEntry } from '../../../store/audit-records.ts'
import { csvOf } from '../csv.ts'
import { cursorOf, positionOf } from '../cursor.ts'
import { endpoint } from '../endpoint.ts'
import { AUDIT_ENTRY, pageOf } from '../shapes.ts'
import { filterOf } from './usage.ts'

/** A page position: time and id of an entry. */
const POSITION = /^\d{1,15}\.[\w-]{1,64}$/

const MONTH_MS = 30 * 86_400_000

const listChanges = endpoint({
  ...{ method: 'get', path: '/audit', operation: 'listChanges', role: 'admin' },
  summary:
    'Lists changes by administrators, newest first: who changed which key, group, channel, user or token, from what to what. Covers the last 30 days by default.',
  query: fields({
    limit: limit(100, 1000),
    cursor: v.optional(word),
    since: v.optional(since),
    until: v.optional(since),
    kind: v.optional(oneOf([...AUDITED])),
    target: v.optional(word),
    actor: v.optional(word),
  }),
  answer: pageOf(AUDIT_ENTRY),
  csv: ({ data }) => csvOf(COLUMNS, data),
  handle: async ({ audit }, { query: { limit, cursor, since, until, ...where } }) => {
    const after = cursor === undefined ? undefined : positionOf(cursor, POSITION)
    const page = { ...filterOf(defined({ since, until }), MONTH_MS), limit, ...defined({ after, ...where }) }
    const { entries, next } = await audit.list(page)
    return { data: entries.map(entryView), ...(next === undefined ? {} : { next_cursor: cursorOf(next) }) }
  },
})

const entryView = ({ id, at, actor, actorKind, action, kind, target, name, changes }: AuditEntry) => ({
  ...{ id, at: instantOf(at), actor, actor_kind: actorKind, action, kind, target, name },
  changes: changes.map(({ field, from, to }) => ({ field, ...defined({ from, to }) })),
})

type Entry = v.InferOutput<typeof AUDIT_ENTRY>

const COLUMNS = {
  ...{ at: (entry: Entry) => entry.at, actor: (entry: Entry) => entry.actor },
  ...{ actor_kind: (entry: Entry) => entry.actor_kind, action: (entry: Entry) => entry.action },
  ...{ kind: (entry: Entry) => entry.kind, target: (entry: Entry) => entry.target, name: (entry: Entry) => entry.name },
  changes: (entry: Entry) => JSON.stringify(entry.changes),
}

/** The endpoint of the audit log. */
export const AUDIT = [listChanges]
