import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { StoreConfig } from '../../../src/config/index.ts'
import { openStore } from '../../../src/store/store.ts'
import { freshDatabase, noPostgres, startPostgres } from '../../builders/postgres.ts'
import { runsOf } from '../../models/runs.ts'
import { type FileState, FileStates, frameEnds, restore } from './file-states.ts'
import type { Operation, Visible } from './operation.ts'
import { seen, workload } from './workload.ts'

const ROUNDS = 1
const folder = mkdtempSync(join(tmpdir(), 'interlingua-crash-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Opens a store after a crash, and returns what it shows of each operation. */
async function seenIn(config: StoreConfig, operations: readonly Operation[]): Promise<readonly Visible[]> {
  const store = await openStore(config)
  try {
    return await seen(store, operations)
  } finally {
    await store.close()
  }
}

/** Checks that the first operations are visible, all of each, and none of those after the next one. */
function expectPrefix(all: readonly Visible[], atLeast: number, atMost: number): void {
  const first = all.findIndex(one => one !== 'all')
  const count = first === -1 ? all.length : first
  expect(
    all.slice(count).every(one => one === 'nothing'),
    JSON.stringify(all),
  ).toBe(true)
  expect(count).toBeGreaterThanOrEqual(atLeast)
  expect(count).toBeLessThanOrEqual(atMost)
}

/** Number of pages of the log at which it goes into the database: none of the workload, or several times. */
const PAGES = [1000, 40] as const

/** Does the workload, and returns the files of the database between its statements. */
async function recorded(operations: readonly Operation[], pages: number): Promise<readonly FileState[]> {
  const path = join(folder, `recorded-${pages}.sqlite`)
  const recorder = new FileStates(path)
  try {
    const store = await openStore({ engine: 'sqlite', path })
    recorder.begin(pages)
    for (const operation of operations) {
      await operation.run(store)
      recorder.acknowledged++
    }
    await store.close()
  } finally {
    recorder.end()
  }
  return recorder.states
}

describe.each(PAGES)('a SQLite file whose log has at most %i pages', pages => {
  const operations = workload(ROUNDS)
  let states: readonly FileState[]
  let count = 0

  beforeAll(async () => {
    states = await recorded(operations, pages)
  })

  /** What a store shows whose files are in a state, after checking that the file is sound. */
  async function seenAfter(state: Pick<FileState, 'database' | 'log'>): Promise<readonly Visible[]> {
    const path = join(folder, `${pages}-${count++}.sqlite`)
    restore(path, state)
    const all = await seenIn({ engine: 'sqlite', path }, operations)
    const database = new DatabaseSync(path)
    expect(database.prepare('pragma integrity_check').get()).toEqual({ integrity_check: 'ok' })
    database.close()
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
    return all
  }

  const stateAt = (index: number): FileState => states[index % states.length]!

  test('has everything acknowledged if the process is killed at any statement, and nothing half', async () => {
    expect(states.length).toBeGreaterThan(operations.length)
    await fc.assert(
      fc.asyncProperty(fc.nat(), async index => {
        const state = stateAt(index)
        expectPrefix(await seenAfter(state), state.acknowledged, state.acknowledged + 1)
      }),
      { numRuns: runsOf(12) },
    )
  })

  test('has the first operations after a power loss, each of them whole, and all up to an administrator’s latest', async () => {
    const losses = fc.record({ index: fc.nat(), at: fc.nat(), torn: fc.nat(5000), how: fc.nat(2) })
    let certain = 0
    await fc.assert(
      fc.asyncProperty(losses, async ({ index, at, torn, how }) => {
        const state = stateAt(index)
        const atLeast = Math.min(state.acknowledged, Math.max(state.synced.operations, latestDurable(state)))
        certain = Math.max(certain, atLeast)
        const all = await seenAfter({ database: state.database, log: withoutEnd(state, at, torn, how) })
        expectPrefix(all, atLeast, state.acknowledged + 1)
      }),
      { numRuns: runsOf(20) },
    )
    expect(certain).toBeGreaterThan(0)
  })

  /** Number of operations up to the latest acknowledged one that a power loss must leave. */
  const latestDurable = ({ acknowledged }: FileState): number =>
    operations.slice(0, acknowledged).findLastIndex(({ isDurable }) => isDurable === true) + 1

  if (pages === PAGES[0]) return

  test('has everything acknowledged if power is lost while the log goes into the database', async () => {
    const moves = states.flatMap((state, index) => {
      const before = states[index - 1]
      return before === undefined || before.database.equals(state.database) ? [] : [{ before, state }]
    })
    expect(moves.length).toBeGreaterThan(0)
    const losses = fc.record({ move: fc.nat(), isWritten: fc.array(fc.boolean(), { minLength: 1 }) })
    await fc.assert(
      fc.asyncProperty(losses, async ({ move, isWritten }) => {
        const { before, state } = moves[move % moves.length]!
        const database = mixed(before.database, state.database, isWritten)
        expectPrefix(await seenAfter({ database, log: state.log }), before.acknowledged, state.acknowledged + 1)
      }),
      { numRuns: runsOf(6) },
    )
  })
})

/** Returns a database of which some pages were written, and others not yet. */
function mixed(before: Buffer, after: Buffer, isWritten: readonly boolean[]): Buffer {
  const size = after.readUInt16BE(16)
  const database = Buffer.from(after)
  for (let page = 0; page * size < before.length; page++)
    if (!isWritten[page % isWritten.length]) before.copy(database, page * size, page * size, (page + 1) * size)
  return database
}

/**
 * Returns a log whose end did not reach the disk: it is cut within a frame, or one page of it was not written, or was
 * written in part, although later ones were.
 */
function withoutEnd(state: FileState, at: number, torn: number, how: number): Buffer {
  const ends = frameEnds(state).filter(end => end >= state.synced.log)
  const end = ends[at % Math.max(1, ends.length)] ?? state.log.length
  const log = Buffer.from(state.log)
  if (how === 0) return log.subarray(0, Math.min(log.length, end + torn))
  const size = Math.min(torn, log.length - end)
  if (how === 1) return log.fill(0, end, end + size)
  return log.fill(0x5a, end + Math.floor(size / 2), end + size)
}

/** Runs the writer until it kills itself, and returns how many operations were acknowledged. */
function killedAt(engine: string, place: string, statement: number): Promise<number> {
  const args = [join(import.meta.dirname, 'writer.ts'), engine, place, `${ROUNDS}`, `${statement}`]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let told = ''
  child.stdout.on('data', (data: Buffer) => {
    told += data.toString()
  })
  return new Promise(done =>
    child.on('close', (_, signal) => {
      expect(signal).toBe('SIGKILL')
      done(told.split('\n').length - 1)
    }),
  )
}

/** Number of statements of the workload on either engine, at least. */
const STATEMENTS = 100

const statement = fc.integer({ min: 1, max: STATEMENTS })

async function placeOn(engine: string) {
  if (engine === 'postgres') {
    const { url, drop } = await freshDatabase()
    return { place: url, config: { engine, url } as const, drop }
  }
  const own = mkdtempSync(join(folder, 'killed-'))
  const path = join(own, 'x.sqlite')
  return {
    place: path,
    config: { engine: 'sqlite', path } as const,
    drop: async () => rmSync(own, { recursive: true }),
  }
}

test.each(noPostgres === undefined ? ['sqlite', 'postgres'] : ['sqlite'])(
  'a process that is killed at a statement loses nothing acknowledged, and leaves nothing half (%s)',
  async engine => {
    await fc.assert(
      fc.asyncProperty(statement, async at => {
        const { place, config, drop } = await placeOn(engine)
        const acknowledged = await killedAt(engine, place, at)
        expectPrefix(await seenIn(config, workload(ROUNDS)), acknowledged, acknowledged + 1)
        await drop()
      }),
      { numRuns: runsOf(2) },
    )
  },
)

test.skipIf(noPostgres !== undefined)('a PostgreSQL server that crashes has everything acknowledged', async () => {
  const server = await startPostgres()
  const config = { engine: 'postgres', url: (await server.database()).url } as const
  const store = await openStore(config)
  const operations = workload(ROUNDS)
  for (const operation of operations) await operation.run(store)
  await server.crash()
  await store.close().catch(() => {})
  await server.start()
  expectPrefix(await seenIn(config, operations), operations.length, operations.length)
  await server.close()
})
