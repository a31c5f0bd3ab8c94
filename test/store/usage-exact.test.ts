import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sqlite } from '../../src/store/sqlite.ts'
import { openDatabase } from '../../src/store/store.ts'
import type { Database } from '../../src/store/tables.ts'
import { rowPieces } from '../../src/store/usage-exact.ts'
import { TooManyRows } from '../../src/store/usage-records.ts'
import { UsageRepository } from '../../src/store/usage-repository.ts'
import { HOUR } from '../builders/units.ts'
import { traffic } from '../builders/usage.ts'

/** Number of rows, as many as three statements read. */
const COUNT = 3000
const SINCE = Date.UTC(2026, 10, 22, 12)

let database: Database
let folder: string
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'interlingua-exact-'))
  database = await openDatabase(sqlite(join(folder, 'x.sqlite')))
  const until = SINCE + HOUR
  const rows = traffic(COUNT, { since: SINCE, until, keys: 1, models: 1, channels: 1 })
  await new UsageRepository(database, () => until).add([...rows])
})
afterEach(async () => {
  await database.destroy()
  rmSync(folder, { recursive: true })
})

async function count(most: number): Promise<number> {
  const series = await database.selectFrom('usage_series').selectAll().execute()
  let pieces = 0
  for await (const _ of rowPieces(database, { since: SINCE, until: SINCE + HOUR }, series, most)) pieces++
  return pieces
}

test('an exact query may cover as many rows as the limit, and no more', async () => {
  expect(await count(COUNT)).toBe(COUNT)
  expect(await count(COUNT + 1)).toBe(COUNT)
  await expect(count(COUNT - 1)).rejects.toThrow(TooManyRows)
})
