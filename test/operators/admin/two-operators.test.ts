import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshSecret } from '../../../src/accounts/secret.ts'
import { AdminServer } from '../../builders/admin.ts'
import { type Asked, TestServer } from '../../builders/gateway.ts'
import { RUNS } from '../../laws/runs.ts'

/*
 * Two operators at two processes that share a store: no change undoes another, and the audit log has exactly what each
 * of them changed.
 */

const CONFIG = { usage: { retention: 86_400_000 } }

let one: AdminServer
let other: TestServer
let otherToken: string
beforeAll(async () => {
  one = await AdminServer.open([], { ...CONFIG })
  other = await TestServer.open([], { keep: one.path, config: { ...CONFIG } })
  const { text, secret } = freshSecret('iladm', Date.now())
  await one.store.access.addToken({ id: '1'.repeat(32), name: 'other', ...secret })
  otherToken = text
})
afterAll(async () => {
  await other.server.close(0)
  await one.close()
})

/** A change by one of the two operators. */
type Ask = (method: string, path: string, body?: unknown) => Promise<Pick<Asked, 'status' | 'json'>>

const ask: Ask = (method, path, body) => one.ask(method, path, body)
const askOther: Ask = (method, path, body) =>
  other.ask(`/admin/v1${path}`, body, { method, headers: { authorization: `Bearer ${otherToken}` } })

interface Thing {
  readonly kind: string
  /** Creates the thing and returns its path. */
  readonly make: (name: string) => Promise<string>
  /** The changes of one field each, which may come in any order. */
  readonly fields: { readonly [field: string]: object }
  /** Returns the settings as a request shows them. */
  readonly settingsIn: (shown: Asked['json']) => object
}

const channel = {
  provider: 'custom',
  base_url: 'http://127.0.0.1:9/v1',
  formats: ['chat'],
  models: ['m'],
  key: 'key-of-mine',
}

const THINGS: readonly Thing[] = [
  {
    kind: 'key',
    make: async name => `/keys/${(await ask('POST', '/keys', { name, rpm: 1, note: 'first' })).json.id}`,
    fields: {
      note: { note: null },
      models: { models: ['a', 'b'] },
      rpm: { rpm: 7 },
      tpm: { tpm: 8 },
      concurrent: { concurrent: 9 },
      enabled: { enabled: false },
      on_loss: { on_loss: 'refuse' },
      expires_at: { expires_at: '2030-01-01T00:00:00Z' },
      'budget.day': { budget: { day: 1 } },
      'budget.month': { budget: { month: 2 } },
      'budget.unknown': { budget: { unknown: 'refuse' } },
    },
    settingsIn: shown => shown,
  },
  {
    kind: 'group',
    make: async name => `/groups/${(await ask('POST', '/groups', { name, rpm: 1 })).json.name}`,
    fields: {
      models: { models: ['a', 'b'] },
      rpm: { rpm: null },
      tpm: { tpm: 8 },
      channels: { channels: ['c'] },
      fallbacks: { fallbacks: ['f'] },
      'budget.day': { budget: { day: 1 } },
      'budget.month': { budget: { month: 2 } },
    },
    settingsIn: shown => shown,
  },
  {
    kind: 'channel',
    make: async name => `/channels/${(await ask('POST', '/channels', { ...channel, name })).json.name}`,
    fields: {
      models: { models: ['n'] },
      priority: { priority: 3 },
      weight: { weight: 4 },
      max_concurrent: { max_concurrent: 5 },
      'timeout.first_byte': { timeout: { first_byte: '3s' } },
    },
    settingsIn: shown => shown.config,
  },
  {
    kind: 'model',
    make: async name => {
      await ask('PUT', `/model-settings/${name}`, { price: { input: 1, output: 2 }, order: 'cost' })
      return `/model-settings/${name}`
    },
    fields: {
      'price.input': { price: { input: 3 } },
      'price.output': { price: { output: null } },
      context: { context: 1000 },
      order: { order: null },
      name: { name: 'shown' },
      fallbacks: { fallbacks: ['f'] },
    },
    settingsIn: shown => shown.settings,
  },
]

/** The value at a path such as `budget.day`. */
const at = (value: object, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>((inner, step) => (inner as { readonly [name: string]: unknown } | undefined)?.[step], value)

let made = 0

test('a change that cannot be recorded is not made', async () => {
  const { access } = one.store
  const path = await THINGS[0]!.make('unrecorded')
  const id = path.slice(path.lastIndexOf('/') + 1)
  const failing = (): never => {
    throw new Error('no entry')
  }
  await expect(access.changeKey(id, { note: 'second' }, false, failing)).rejects.toThrow('no entry')
  await expect(access.revokeKey(id, Date.now(), failing)).rejects.toThrow('no entry')
  expect(await access.key(id)).toMatchObject({ note: 'first' })
  expect((await access.key(id))?.revokedAt).toBeUndefined()
})

describe.each(THINGS)('a $kind that two operators change at once', ({ kind, make, fields, settingsIn }) => {
  test('has the changes of both, and the audit log tells them apart', async () => {
    const names = Object.keys(fields)
    const split = fc.array(fc.record({ field: fc.constantFrom(...names), byOther: fc.boolean() }), {
      minLength: 2,
      maxLength: 8,
    })
    await fc.assert(
      fc.asyncProperty(split, async all => {
        const changes = all.filter(({ field }, index) => all.findIndex(change => change.field === field) === index)
        const path = await make(`${kind}-${made++}`)
        const target = decodeURIComponent(path.slice(path.lastIndexOf('/') + 1))
        const started = settingsIn((await ask('GET', path)).json)
        const statuses = await Promise.all(
          changes.map(
            async ({ field, byOther }) => (await (byOther ? askOther : ask)('PATCH', path, fields[field])).status,
          ),
        )
        expect(statuses).toEqual(changes.map(() => 200))
        const { data } = (await ask('GET', `/audit?kind=${kind}&target=${target}`)).json
        const entries = data.filter(({ action }: { action: string }) => action.startsWith('change'))
        const { entry: shown } = await settled(path)
        const ended = settingsIn(shown)
        for (const { field, byOther } of changes) {
          const is = at(ended, field)
          const expected = at(fields[field]!, field)
          if (expected === null) expect(is).toBeUndefined()
          else if (field !== 'expires_at' && field !== 'fallbacks') expect(is).toEqual(expected)
          const found = entries.filter((entry: { changes: { field: string }[] }) =>
            entry.changes.some(one => one.field === field),
          )
          expect(found).toMatchObject([{ actor: byOther ? 'other' : 'tests', changes: [{ field }] }])
          const [{ from, to }] = found[0].changes
          expect([from, to]).toEqual([at(started, field), is])
        }
        expect(entries).toHaveLength(changes.length)
      }),
      { numRuns: Math.min(RUNS, 4) },
    )
  })

  /** Reads the thing at the process that knows all changes, as it made the last of them. */
  async function settled(path: string) {
    await ask('PATCH', path, {})
    return { entry: (await ask('GET', path)).json }
  }
})
