import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hashOf } from '../../src/config/hash.ts'
import type { StoredEntry } from '../../src/store/config-records.ts'
import type { ConsoleUser, UserChange } from '../../src/store/console-records.ts'
import { openStore, type Store } from '../../src/store/store.ts'
import type { TaskNews } from '../../src/store/tasks.ts'
import type { UsageRow } from '../../src/store/usage/row.ts'
import type { RowPage, UsageQuery } from '../../src/store/usage-records.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { freshDatabase, noPostgres } from '../builders/postgres.ts'
import { DAY, HOUR } from '../builders/units.ts'

/*
 * Both engines answer the same, whatever they are asked in whatever order. Names and texts are hostile: signs that
 * patterns and collations know, characters that no encoding has, other cases, and lengths.
 */

const closing = closingAfterEach()

/** Time of the operations, in Unix milliseconds. */
const AT = Date.UTC(2026, 10, 1, 23, 59)

/** One call of a store. Its text says what was called. */
interface Call {
  readonly text: string
  run(store: Store): Promise<unknown>
}

const call = <Given extends readonly unknown[]>(
  name: string,
  run: (store: Store, ...given: Given) => Promise<unknown>,
  ...given: { [Index in keyof Given]: fc.Arbitrary<Given[Index]> }
): fc.Arbitrary<Call> =>
  fc.tuple(...(given as fc.Arbitrary<unknown>[])).map(values => ({
    text: `${name} ${JSON.stringify(values)}`,
    run: store => run(store, ...(values as unknown as Given)),
  }))

const LONG = 'long'.repeat(600)
/** Names that engines could sort, compare or store in different ways. */
const name = fc.constantFrom(
  'a',
  'A',
  'ä',
  'a%',
  'a_',
  'a b',
  ' a',
  'a ',
  'é',
  'e\u0301',
  '😀',
  '￿',
  '\ud800',
  "'",
  LONG,
)
const owner = fc.constantFrom('me', 'Me', 'you')
const id = fc.constantFrom('r1', 'r2', 'R1', 'r%', 'ß', '😀')
const text = fc.oneof(
  name,
  fc.string({ unit: 'grapheme', maxLength: 9 }).filter(some => !some.includes('\0')),
)
/** Ids of conversations, which no response has. */
const conversation = id.map(some => `conv ${some}`)
const time = fc.constantFrom(AT - DAY, AT - 1, AT, AT + 1, AT + HOUR, AT + DAY)
const later = fc.constantFrom(AT, AT + 1, AT + DAY)
const item = fc.record({ id, text })
const items = fc.array(item, { maxLength: 3 })

const turn = fc.record(
  {
    ...{ owner, id, response: fc.record({ id, metadata: fc.dictionary(text, text), output: items }), input: items },
    ...{ previous: id, channel: name, remembered: fc.constant(true), copy: text, createdAt: time, expiresAt: later },
    ...{ lease: later, worker: name },
  },
  { requiredKeys: ['owner', 'id', 'response', 'input', 'createdAt', 'expiresAt'] },
)
const events = fc.record({ first: fc.nat(4), texts: fc.array(text, { maxLength: 3 }) })
const addition = fc.record({ conversation, items })

const RESPONSES = [
  call(
    'put',
    ({ turns }, ...given) => turns.put(...given),
    turn,
    fc.option(events, OPTIONAL()),
    fc.option(addition, OPTIONAL()),
  ),
  call(
    'advance',
    ({ turns }, ...given) => turns.advance(...given),
    turn,
    fc.option(events, OPTIONAL()),
    fc.option(addition, OPTIONAL()),
  ),
  call('find', ({ turns }, ...given) => turns.find(...given), owner, id),
  call('chain', ({ turns }, ...given) => turns.chain(...given), owner, id),
  call('items', ({ turns }, ...given) => turns.items(...given), owner, fc.array(id, { maxLength: 3 })),
  call('isForbidden', ({ turns }, ...given) => turns.isForbidden(...given), owner, fc.array(id, { maxLength: 2 })),
  call('unfinished', ({ turns }, ...given) => turns.unfinished(...given), fc.array(id, { maxLength: 3 })),
  call('renew', ({ turns }, ...given) => turns.renew(...given), owner, id, later),
  call('drop', ({ turns }, ...given) => turns.drop(...given), owner, id),
  call('addEvents', ({ events }, ...given) => events.add(...given), owner, id, events),
  call('events', ({ events }, ...given) => events.from(...given), owner, id, fc.nat(6)),
  call('countEvents', ({ events }, ...given) => events.count(...given), owner, id),
  call(
    'createConversation',
    ({ conversations }, ...given) => conversations.create(...given),
    fc.record({ owner, id: conversation, metadata: fc.dictionary(text, text), createdAt: time, expiresAt: later }),
    items,
  ),
  call('conversation', ({ conversations }, ...given) => conversations.find(...given), owner, conversation),
  call('conversationItems', ({ conversations }, ...given) => conversations.items(...given), owner, conversation),
  call('addItems', ({ conversations }, ...given) => conversations.add(...given), owner, conversation, items, later),
  call('dropItem', ({ conversations }, ...given) => conversations.dropItem(...given), owner, conversation, id),
  call('dropConversation', ({ conversations }, ...given) => conversations.drop(...given), owner, conversation),
]

const state = fc.constantFrom('queued', 'in-progress', 'completed', 'failed')
const result = fc.record({ candidates: fc.constant([]), id: text })
const task = fc.record(
  {
    ...{ owner, id, model: name, channel: name, format: fc.constant('videos'), upstreamModel: name },
    ...{ upstreamId: text, from: fc.constant('text'), output: fc.record({ size: text }), prompt: text },
    ...{ idempotencyKey: name, reference: name, remixOf: id, worker: name, misses: fc.nat(2), fileSize: fc.nat(2) },
    ...{ state: fc.oneof(state, fc.constant('submitting')), result, createdAt: time, polledAt: time, expiresAt: later },
  },
  { noNullPrototype: true },
) as unknown as fc.Arbitrary<Parameters<Store['tasks']['begin']>[0]>
const news = fc.record({ state, result, upstreamId: text, polledAt: time }, { requiredKeys: ['state', 'result'] })

const TASKS = [
  call('begin', ({ tasks }, ...given) => tasks.begin(...given), task),
  call('findTask', ({ tasks }, ...given) => tasks.find(...given), owner, id),
  call('findByKey', ({ tasks }, ...given) => tasks.findByKey(...given), owner, name),
  call(
    'listTasks',
    ({ tasks }, ...given) => tasks.list(...given),
    owner,
    fc.record({
      limit: fc.integer({ min: 1, max: 3 }),
      order: fc.constantFrom('asc', 'desc'),
      after: fc.option(id, OPTIONAL()),
    }),
  ),
  call(
    'advanceTask',
    ({ tasks }, ...given) => tasks.advance(...given),
    owner,
    id,
    news as unknown as fc.Arbitrary<TaskNews>,
  ),
  call('claim', ({ tasks }, ...given) => tasks.claim(...given), owner, id, time, time),
  call('miss', ({ tasks }, ...given) => tasks.miss(...given), owner, id),
  call('withoutVideo', ({ tasks }, ...given) => tasks.withoutVideo(...given).then(sortedById), time, fc.constant(99)),
  call('withFiles', ({ tasks }) => tasks.withFiles().then(sortedById)),
  call('submitting', ({ tasks }) => tasks.submitting().then(sortedById)),
  call(
    'setFileSize',
    ({ tasks }, ...given) => tasks.setFileSize(...given),
    owner,
    id,
    fc.option(fc.nat(3), OPTIONAL()),
  ),
  call('dropTask', ({ tasks }, ...given) => tasks.drop(...given), owner, id),
]

const secret = name.map(some => ({ hash: hashOf(some), prefix: some, lastFour: some, createdAt: AT }))
const settings = { models: fc.array(name, { maxLength: 2 }), limits: fc.record({ rpm: fc.nat(9) }) }
const key = fc.record(
  {
    ...{ ...settings, id, name, group: name, enabled: fc.boolean(), note: text, createdAt: time },
    ...{ secrets: fc.array(secret, { maxLength: 2 }), expiresAt: later },
  },
  { requiredKeys: ['id', 'name', 'group', 'enabled', 'limits', 'createdAt', 'secrets'] },
)
const group = fc.record({ ...settings, name, onLoss: fc.constant('show' as const), createdAt: time })
const entry = fc.record({
  kind: fc.constantFrom('channel', 'model'),
  name,
  settings: fc.record({ a: text }),
  createdAt: time,
  updatedAt: time,
})
const page = fc.record(
  { limit: fc.integer({ min: 1, max: 3 }), after: fc.record({ id, name }), group: name, name, revoked: fc.boolean() },
  { requiredKeys: ['limit'] },
)

const KEYS = [
  call('createKey', ({ access }, ...given) => access.createKey(...given), key, fc.boolean()),
  call('key', ({ access }, ...given) => access.key(...given), id),
  call('keyNamed', ({ access }, ...given) => access.keyNamed(...given), name),
  call('keys', ({ access }, ...given) => access.keys(...given), page),
  call(
    'changeKey',
    ({ access }, ...given) => access.changeKey(...given),
    id,
    fc.record({ name, group: name, note: text }, { requiredKeys: [] }),
    fc.boolean(),
  ),
  call('revokeKey', ({ access }, ...given) => access.revokeKey(...given), id, time),
  call('rotateKey', ({ access }, ...given) => access.rotateKey(...given), id, secret, time),
  call('recordUses', ({ access }, used, at) => access.recordUses(new Map([[used, at]])), id, time),
  call('putGroup', ({ access }, ...given) => access.putGroup(...given), group),
  call('groups', ({ access }) => access.groups()),
  call('dropGroup', ({ access }, ...given) => access.dropGroup(...given), name, fc.boolean()),
  call('drain', ({ access }, ...given) => access.drain(...given), name, fc.boolean()),
  call('changes', async ({ access }) => {
    const { version: _, ...changes } = await access.changes(0)
    return {
      ...changes,
      keys: sortedById(changes.keys),
      groups: byName(changes.groups),
      droppedGroups: changes.droppedGroups.toSorted(),
    }
  }),
  call(
    'addToken',
    ({ access }, some, at) =>
      access.addToken({ id: some, name: some, hash: hashOf(some), prefix: some, lastFour: some, createdAt: at }),
    name,
    time,
  ),
  call('tokens', ({ access }) => access.tokens()),
  call('dropToken', ({ access }, ...given) => access.dropToken(...given), name, fc.boolean()),
  call(
    'changeEntry',
    ({ config }, changed) =>
      config.changeEntry(changed.kind as StoredEntry['kind'], changed.name, () => changed as StoredEntry),
    entry,
  ),
  call('entries', ({ config }) => config.entries()),
  call('dropEntry', ({ config }, ...given) => config.dropEntry(...given), fc.constantFrom('channel', 'model'), name),
]

const user = fc.record(
  {
    ...{ name, role: fc.constantFrom('admin', 'viewer'), source: fc.constantFrom('password', 'oidc'), password: text },
    ...{ subject: name, enabled: fc.boolean(), createdAt: time },
  },
  { requiredKeys: ['name', 'role', 'source', 'enabled', 'createdAt'] },
)
const session = fc.record({ hash: name, user: name, createdAt: time, usedAt: time, expiresAt: later })
const attempt = fc.record({ account: id, network: id, widerNetwork: id }, { requiredKeys: ['account', 'network'] })
const rules = fc.constant({ perNetwork: 2, total: 4, within: HOUR, lockedFor: HOUR })
const audited = fc.record({
  ...{
    id: name,
    at: time,
    actor: name,
    actorKind: fc.constant('user' as const),
    action: name,
    kind: fc.constant('key' as const),
  },
  ...{ target: name, name, changes: fc.array(fc.record({ field: text, to: text }), { maxLength: 2 }) },
})

const CONSOLE = [
  call(
    'addUser',
    ({ console }, ...given) => console.addUser(...given),
    user as unknown as fc.Arbitrary<ConsoleUser>,
    fc.boolean(),
  ),
  call('users', ({ console }) => console.users()),
  call('user', ({ console }, ...given) => console.user(...given), name),
  call('userOf', ({ console }, ...given) => console.userOf(...given), name),
  call(
    'changeUser',
    ({ console }, ...given) => console.changeUser(...given),
    name,
    fc.record(
      { role: fc.constantFrom('admin', 'viewer'), enabled: fc.boolean(), password: text },
      { requiredKeys: [] },
    ) as unknown as fc.Arbitrary<UserChange>,
  ),
  call('dropUser', ({ console }, ...given) => console.dropUser(...given), name),
  call(
    'signIn',
    ({ console }, ...given) => console.openSignInSession(...given),
    session,
    fc.option(text, OPTIONAL()),
    fc.constant(2),
  ),
  call('session', ({ console }, ...given) => console.signInSession(...given), name),
  call('endSessions', ({ console }, ...given) => console.endSignInSessions(...given), name),
  call('attempt', ({ console }, ...given) => console.attempt(...given), attempt, rules),
  call('forgive', ({ console }, ...given) => console.forgive(...given), attempt),
  call('unlock', ({ console }, ...given) => console.unlock(...given), id),
  call('audit', ({ audit }, ...given) => audit.add(...given), audited),
  call(
    'audited',
    ({ audit }, ...given) => audit.list(...given),
    fc.record(
      { since: time, until: later, limit: fc.integer({ min: 1, max: 3 }), actor: name, target: name },
      { requiredKeys: ['since', 'until', 'limit'] },
    ),
  ),
]

const note = fc.record({
  kind: fc.constant('client-secret' as const),
  name,
  owner,
  text,
  expiresAt: fc.constantFrom(AT, AT + HOUR),
})
const capture = fc.record(
  { id: name, at: time, key: name, expiresAt: later, data: fc.uint8Array({ maxLength: 20 }) },
  { requiredKeys: ['id', 'at', 'expiresAt', 'data'] },
)

const SHARED = [
  call('addNote', ({ shared }, ...given) => shared.addNote(...given), note, fc.constant({ perOwner: 3, total: 5 })),
  call('note', ({ shared }, ...given) => shared.note(...given), fc.constant('client-secret' as const), name),
  call('takeNote', ({ shared }, ...given) => shared.takeNote(...given), fc.constant('client-secret' as const), name),
  call('createSecret', ({ shared }, ...given) => shared.createSecret(...given), name, fc.uint8Array({ maxLength: 4 })),
  call(
    'changeReasoning',
    ({ shared }, names, reasoning, some) =>
      shared.changeReasoning([{ names, reasoning: { id: reasoning, text: some, expiresAt: AT + 1 } }]),
    fc.array(fc.array(name, { maxLength: 2 }), { maxLength: 2 }),
    fc.uuid(),
    text,
  ),
  call(
    'reasoning',
    async ({ shared }, names) =>
      sortedById((await shared.reasoning(names)).map(one => ({ ...one, names: byName(one.names) }))),
    fc.array(name, { minLength: 1, maxLength: 3 }),
  ),
  call(
    'putSignatures',
    ({ shared }, ...given) => shared.putSignatures(...given),
    fc.array(fc.record({ hash: name, issuer: name, expiresAt: later }), { maxLength: 3 }),
  ),
  call('signatures', ({ shared }, ...given) => shared.signatures(...given), fc.array(name, { maxLength: 3 })),
  call(
    'addCaptures',
    ({ captures }, ...given) => captures.add(...given),
    fc.array(capture, { minLength: 1, maxLength: 3 }),
    fc.constant(60),
  ),
  call('capture', async ({ captures }, some) => bytesOf(await captures.find(some)), name),
  call(
    'captures',
    ({ captures }, ...given) => captures.list(...given),
    fc.record(
      { since: time, until: later, limit: fc.integer({ min: 1, max: 3 }), key: name },
      { requiredKeys: ['since', 'until', 'limit'] },
    ),
  ),
]

const usageRow = fc.record(
  {
    ...{
      id: name,
      at: time,
      key: name,
      keyName: name,
      group: name,
      model: name,
      channel: name,
      door: fc.constant('/'),
    },
    ...{
      format: fc.constant('chat'),
      stream: fc.boolean(),
      attempts: fc.nat(2),
      status: fc.constantFrom(200, 429, 499),
    },
    ...{ input: fc.oneof(fc.nat(), fc.double()), output: fc.nat(), cost: fc.oneof(fc.nat(), fc.constant(1e300)) },
    ...{
      losses: fc.nat(3),
      duration: fc.double({ min: 0, max: 1e6 }),
      finish: text,
      error: text,
      estimated: fc.constant(true),
    },
    failure: fc.record({ reason: fc.constant('gateway'), said: text }),
  },
  { requiredKeys: ['at', 'door', 'format', 'stream', 'attempts', 'status', 'losses', 'duration'] },
) as unknown as fc.Arbitrary<UsageRow>
let count = 0
/** A row whose id no other row has, as of one request. */
const ownRow = usageRow.map(row => ({ ...row, id: `req ${count++}` }))
const where = fc.record(
  { key: name, model: name, channel: name, group: name, status: fc.constant('200') },
  { requiredKeys: [] },
)
const span = { since: time, until: later, where }

const USAGE = [
  call('add', ({ usage }, ...given) => usage.add(...given), fc.array(ownRow, { minLength: 1, maxLength: 4 })),
  call(
    'rows',
    ({ usage }, ...given) => usage.rows(...given),
    fc.record({
      ...span,
      limit: fc.integer({ min: 1, max: 4 }),
      only: fc.constantFrom(undefined, 'errors' as const, 'losses' as const),
    }) as unknown as fc.Arbitrary<RowPage>,
  ),
  call(
    'row',
    ({ usage }, ...given) => usage.row(...given),
    fc.nat(50).map(number => `req ${number}`),
  ),
  call(
    'sums',
    ({ usage }, ...given) => usage.sums(...given),
    fc.record({
      ...span,
      by: fc.subarray(['key', 'model', 'channel', 'status'] as const),
      every: fc.constantFrom(undefined, 'hour' as const, 'day' as const),
      exact: fc.boolean(),
      percentiles: fc.boolean(),
      limit: fc.constant(50),
    }) as unknown as fc.Arbitrary<UsageQuery>,
  ),
  call('failures', ({ usage }, ...given) => usage.failures(...given), fc.record(span)),
  call('spent', ({ usage }, ...given) => usage.spent(...given), name, time),
]

/** Options of a value that may be absent. */
function OPTIONAL() {
  return { nil: undefined }
}

const byText = (one: string, other: string): number => (one < other ? -1 : Number(one > other))
const sortedById = <T extends { readonly id: string }>(rows: readonly T[]): readonly T[] =>
  rows.toSorted((a, b) => byText(a.id, b.id) || byText(JSON.stringify(a), JSON.stringify(b)))
const byName = <T extends { readonly name: string }>(rows: readonly T[]): readonly T[] =>
  rows.toSorted((a, b) => byText(a.name, b.name))
const bytesOf = (data: Uint8Array | undefined): string | undefined => data && Buffer.from(data).toString('hex')

/** The answer of a call as a text. An error has no text, because engines word their errors in their own ways. */
async function answerOf(given: Call, store: Store): Promise<string> {
  try {
    const answer = await given.run(store)
    return JSON.stringify(answer instanceof Map || answer instanceof Set ? [...answer].sort() : answer) ?? 'undefined'
  } catch {
    return 'error'
  }
}

const AREAS = Object.entries({ RESPONSES, TASKS, KEYS, CONSOLE, SHARED, USAGE })

test.skipIf(noPostgres).each(AREAS)('both engines answer the same: %s', { timeout: 60_000 }, async (_, calls) => {
  const folder = mkdtempSync(join(tmpdir(), 'same-answers-'))
  closing.push(() => rmSync(folder, { recursive: true, force: true }))
  const { url, drop } = await freshDatabase()
  closing.push(drop)
  const sqlite = await openStore({ engine: 'sqlite', path: join(folder, 'x.sqlite') }, () => AT)
  const postgres = await openStore({ engine: 'postgres', url }, () => AT)
  closing.push(() => Promise.all([sqlite.close(), postgres.close()]))
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(...calls), { minLength: 10, maxLength: 40 }), async sequence => {
      for (const one of sequence) {
        const [expected, answer] = [await answerOf(one, sqlite), await answerOf(one, postgres)]
        if (answer !== expected) expect.fail(`SQLite ${expected}, PostgreSQL ${answer}: ${one.text}`)
      }
    }),
    { numRuns: Number(process.env['RUNS'] ?? 12), endOnFailure: true },
  )
})
