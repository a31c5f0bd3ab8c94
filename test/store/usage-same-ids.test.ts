import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { requestId } from '../../src/store/usage/request-id.ts'
import type { UsageRow } from '../../src/store/usage/row.ts'
import type { UsageRecords } from '../../src/store/usage-records.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { runsOf } from '../models/runs.ts'
import { ENGINES } from './usage-stores.ts'

/* A background response has two rows of one id: one for its start, and one for its answer. */

const closing = closingAfterEach()
const NOON = Date.UTC(2026, 10, 29, 12)

const rowOf = (number: number, at: number, more: Partial<UsageRow> = {}): UsageRow => ({
  ...{ id: requestId(NOON, `${number}`.padStart(32, '0')), at, key: 'k', keyName: 'k', model: 'm' },
  ...{ channel: 'c', door: '/', format: 'responses', stream: false, attempts: 1, status: 200, losses: 0 },
  ...{ additions: 0, duration: 1, ...more },
})

async function pagesOf(usage: UsageRecords, limit: number, filter: object): Promise<readonly UsageRow[]> {
  const rows: UsageRow[] = []
  for (let after: string | undefined, more = true; more; more = after !== undefined) {
    const page = { since: 0, until: 8e15, limit, ...filter, ...(after === undefined ? {} : { after }) }
    const { rows: found, next } = await usage.rows(page)
    rows.push(...found)
    after = next
  }
  return rows
}

describe.each(ENGINES)('%s', (_name, open) => {
  test('pages have every row once, whatever their size', async () => {
    const { usage, close } = await open(() => NOON + 1_000_000)
    closing.push(close)
    let since = NOON
    const row = fc.record({ number: fc.nat(4), at: fc.nat(3) })
    const law = fc.asyncProperty(fc.uniqueArray(row, { maxLength: 20, selector: JSON.stringify }), async rows => {
      since += 10
      const all = rows.map(({ number, at }, index) => rowOf(number, since + at, { cost: 2 ** index, duration: index }))
      await usage.add(all)
      for (const limit of [1, 2, 3, 7])
        for (const where of [{}, { key: 'k' }]) {
          const costs = (await pagesOf(usage, limit, { since, until: since + 10, where })).map(({ cost }) => cost!)
          expect(costs.sort((a, b) => a - b)).toEqual(all.map(({ cost }) => cost))
        }
    })
    await fc.assert(law, { numRuns: runsOf(20) })
  })

  test.each([0, 3])('the row of such an id is that of the answer, %d ms after the start', async later => {
    const { usage, close } = await open(() => NOON + 1000)
    closing.push(close)
    const answer = rowOf(1, NOON + later, { cost: 5, status: 502, error: 'upstream' as never, duration: 900 })
    await usage.add([rowOf(1, NOON, { attempts: 0, duration: 2 }), answer])
    expect(await usage.row(answer.id)).toMatchObject({ status: 502, cost: 5 })
  })
})
