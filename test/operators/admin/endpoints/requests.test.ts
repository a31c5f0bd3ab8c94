import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { UsageRow } from '../../../../src/store/usage/row.ts'
import { AdminServer } from '../../../builders/admin.ts'
import { channelAt } from '../../../builders/config.ts'
import { deadAddress } from '../../../builders/upstream.ts'
import { traffic } from '../../../builders/usage.ts'

const HOUR = 3_600_000
const until = Math.floor(Date.now() / HOUR) * HOUR
const since = until - 40 * HOUR
/** Number of captures, more than are read for one page. */
const CAPTURED = 1500

let admin: AdminServer
let rows: UsageRow[]
let captured: ReadonlySet<string>

beforeAll(async () => {
  admin = await AdminServer.open([channelAt(await deadAddress())])
  rows = [...traffic(3000, { since, until, keys: 4, models: 5, channels: 3 })]
  rows[0] = { ...rows[0]!, model: 'rare', status: 502, losses: 1 }
  await admin.store.usage.add(rows)
  const captures = rows.slice(0, CAPTURED).map(({ id, at, key }) => ({
    ...{ id, at, key: key!, expiresAt: Date.now() + HOUR, data: Buffer.alloc(1) },
  }))
  await admin.store.captures.add(captures, 1e9)
  captured = new Set(captures.map(({ id }) => id))
}, 60_000)
afterAll(() => admin.close())

const ONLY: { readonly [only: string]: (row: UsageRow) => boolean } = {
  '': () => true,
  errors: ({ status }) => status >= 400,
  losses: ({ losses }) => losses > 0,
  captured: ({ id }) => captured.has(id),
}

/** Returns the value by which a row is filtered. Without a model, rows are those for which no channel was tried. */
const filteredValue = (row: UsageRow, field: string, filtered?: string): string =>
  field === 'model' && filtered === '' ? (row.channel ?? '') : String(row[field as keyof UsageRow] ?? '')

/** Returns the ids of all pages with this number of requests. */
async function listed(query: string, limit: number): Promise<{ ids: string[]; pages: number[] }> {
  const ids: string[] = []
  const pages: number[] = []
  let cursor = ''
  do {
    const { json } = await admin.get(`/requests?since=3d&limit=${limit}${query}${cursor}`)
    for (const { id } of json.data) ids.push(id)
    pages.push(json.data.length)
    cursor = json.next_cursor === undefined ? '' : `&cursor=${json.next_cursor}`
  } while (cursor !== '')
  return { ids, pages }
}

it.each(Object.keys(ONLY))('a rare request is found with a limit of 1 (only %j)', async only => {
  const { ids, pages } = await listed(`&model=rare${only === '' ? '' : `&only=${only}`}`, 1)
  expect(ids).toEqual([rows[0]!.id])
  // The only match is beyond the captures that are read for the first page.
  expect(pages).toEqual(only === 'captured' ? [0, 1] : [1])
})

it('a request is found by its model although no channel was tried for it', async () => {
  const refused = rows.slice(5, 8).map(({ id, at }, index) => ({
    ...rows[1]!,
    ...{ id: `${id.slice(0, -1)}_`, at, model: index === 0 ? 'misspelt' : 'rare', status: index === 0 ? 404 : 429 },
    ...{ channel: undefined, upstreamModel: undefined, upstreamFormat: undefined, losses: 0 },
    failure: { reason: 'gateway', said: 'refused' },
  })) as unknown as UsageRow[]
  await admin.store.usage.add(refused)
  rows = [...rows, ...refused]
  const idsOf = async (query: string) => (await listed(query, 1)).ids
  expect(await idsOf('&model=misspelt')).toEqual([refused[0]!.id])
  expect(await idsOf('&model=misspelt&only=errors')).toEqual([refused[0]!.id])
  const rare = [rows[0]!, refused[1]!, refused[2]!].sort((one, other) => other.at - one.at).map(({ id }) => id)
  expect(await idsOf('&model=rare')).toEqual(rare)
  expect(await idsOf('&model=rare&status=429')).toEqual(rare.filter(id => id !== rows[0]!.id))
  expect(await idsOf('&model=unheard-of')).toEqual([])
  const failures = async (model: string) => (await admin.get(`/failures?since=3d&model=${model}`)).json.data
  expect(await failures('misspelt')).toMatchObject([{ model: 'misspelt', count: 1 }])
  expect(await failures('rare')).toMatchObject([{ model: 'rare', count: 2 }])
  expect(await failures('unheard-of')).toEqual([])
})

it('pages with filters have every request that fits, once and in order, and are full', async () => {
  const filters = fc.record(
    {
      model: fc.constantFrom('model-0', 'model-3', 'rare', 'none', ''),
      key: fc.constantFrom(...new Set(rows.map(({ key }) => key!))),
      status: fc.constantFrom('200', '502'),
    },
    { requiredKeys: [] },
  )
  await fc.assert(
    fc.asyncProperty(
      filters,
      fc.constantFrom(...Object.keys(ONLY)),
      fc.constantFrom(7, 60, 500),
      async (filter, only, limit) => {
        const fits = (row: UsageRow): boolean =>
          ONLY[only]!(row) &&
          Object.entries(filter).every(([field, value]) => filteredValue(row, field, value) === value)
        const wanted = rows.filter(fits).toSorted((one, other) => other.at - one.at || (one.id < other.id ? 1 : -1))
        const query = new URLSearchParams({ ...filter, ...(only === '' ? {} : { only }) }).toString()
        const { ids, pages } = await listed(`&${query}`, Math.max(limit, Math.ceil(wanted.length / 10)))
        expect(ids).toEqual(wanted.map(({ id }) => id))
        if (only !== 'captured') for (const count of pages.slice(0, -1)) expect(count).toBeGreaterThanOrEqual(limit)
      },
    ),
    { numRuns: 30 },
  )
}, 60_000)
