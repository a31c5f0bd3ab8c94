import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openStore } from '../../src/store/store.ts'
import { freshDatabase, noPostgres } from '../builders/postgres.ts'
import { DAY } from '../builders/units.ts'

/** Runs the writer until some batches are stored, kills it, and returns how many rows it reported as stored. */
function killed(engine: string, place: string): Promise<number> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'usage-writer.ts'), engine, place], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let told = ''
  child.stdout.on('data', (data: Buffer) => {
    told += data.toString()
    if (told.split('\n').length > 20) child.kill('SIGKILL')
  })
  return new Promise(done => {
    child.on('close', () => done(Number(told.slice(0, told.lastIndexOf('\n')).split('\n').at(-1))))
  })
}

async function place(engine: string) {
  if (engine === 'postgres') return freshDatabase().then(({ url, drop }) => ({ at: url, drop }))
  const folder = mkdtempSync(join(tmpdir(), 'interlingua-killed-'))
  return { at: join(folder, 'x.sqlite'), drop: async () => rmSync(folder, { recursive: true }) }
}

const ENGINES = noPostgres === undefined ? ['sqlite', 'postgres'] : ['sqlite']

test.each(ENGINES)(
  'a process that is killed while it writes loses no row it had stored, and sums agree (%s)',
  async engine => {
    const { at, drop } = await place(engine)
    const told = await killed(engine, at)
    expect(told).toBeGreaterThanOrEqual(50)
    const store = await openStore(engine === 'sqlite' ? { engine, path: at } : { engine: 'postgres', url: at })
    const all = { since: Date.now() - DAY, until: Date.now() }
    let [rows, cost, after]: [number, number, string | undefined] = [0, 0, '']
    while (after !== undefined) {
      const page = await store.usage.rows({ ...all, limit: 500, ...(after === '' ? {} : { after }) })
      rows += page.rows.length
      for (const row of page.rows) cost += row.cost ?? 0
      after = page.next
    }
    expect(rows).toBeGreaterThanOrEqual(told)
    for (const every of [undefined, 'hour', 'day'] as const) {
      const groups = await store.usage.sums({ ...all, by: [], limit: 100, ...(every === undefined ? {} : { every }) })
      expect(groups.reduce((sum, { requests }) => sum + requests, 0)).toBe(rows)
      expect(groups.reduce((sum, group) => sum + group.cost, 0)).toBe(cost)
    }
    await store.close()
    await drop()
  },
)
