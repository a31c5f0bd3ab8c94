import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqlite } from '../src/store/store.ts'
import type { UsageQuery } from '../src/store/usage-records.ts'
import { traffic } from '../test/builders/usage.ts'

/*
 * Measures what it costs to record and to query usage: `node bench/usage.ts [rows]`. It measures CPU time because other
 * processes may be busy.
 */

const DAY = 86_400_000
const NOW = Date.UTC(2026, 10, 22, 12)
const ROWS = Number(process.argv[2] ?? 1_000_000)
const COMPANY = { keys: 50, models: 30, channels: 8 }

const folder = mkdtempSync(join(tmpdir(), 'interlingua-bench-'))
const { usage, close } = await openSqlite(join(folder, 'usage.sqlite'), () => NOW)

/** CPU time of the work, in milliseconds. */
async function cpu(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** Writes rows in batches and returns the time per row in microseconds. */
async function write(count: number, since: number, until: number, batch: number): Promise<number> {
  let spent = 0
  let rows = []
  for (const row of traffic(count, { since, until, ...COMPANY }, since)) {
    rows.push(row)
    if (rows.length < batch) continue
    const full = rows
    spent += await cpu(() => usage.add(full))
    rows = []
  }
  return (spent * 1000) / count
}

const show = (name: string, value: number, unit: string) =>
  console.log(`${name.padEnd(60)} ${value.toFixed(1)} ${unit}`)

for (const rate of [500, 5000])
  show(`write, ${rate} requests a second`, await write(rate * 8, NOW - 60_000, NOW - 52_000, rate), 'µs a row')
show('write, a month', await write(ROWS, NOW - 30 * DAY, NOW, 5000), 'µs a row')

const query = (days: number, more: Partial<UsageQuery>): UsageQuery => ({
  ...{ since: NOW - days * DAY, until: NOW, by: [], limit: 1000, ...more },
})
for (const days of [1, 7, 30])
  for (const every of [undefined, 'hour', 'day'] as const)
    for (const by of [[], ['model'], ['key'], ['key', 'model', 'channel', 'status']] as const)
      for (const percentiles of [false, true]) {
        const asked = query(days, { by, percentiles, ...(every === undefined ? {} : { every }) })
        const name = `sums of ${days} d by ${every ?? ''} ${by.join(' ')}${percentiles ? ', percentiles' : ''}`
        show(name, await cpu(() => usage.sums(asked)), 'ms')
      }
for (const page of [
  {},
  { only: 'errors' },
  { only: 'losses' },
  { where: { key: '1'.padStart(32, '0') } },
  { where: { key: 'nobody' } },
] as const)
  show(`rows ${JSON.stringify(page)}`, await cpu(() => usage.rows({ since: 0, until: NOW, limit: 100, ...page })), 'ms')
show('row by id', await cpu(() => usage.row('nobody')), 'ms')
show('spent', await cpu(() => usage.spent('1'.padStart(32, '0'), NOW)), 'ms')
await close()
rmSync(folder, { recursive: true })
