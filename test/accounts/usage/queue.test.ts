import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type RowRecords, UsageQueue } from '../../../src/accounts/usage/queue.ts'
import type { Log } from '../../../src/log.ts'
import type { UsageRow } from '../../../src/store/usage/row.ts'
import { pause, TIMED, until } from '../../builders/time.ts'
import { HOUR } from '../../builders/units.ts'
import { traffic } from '../../builders/usage.ts'
import { ENGINES, type UsageStore } from '../../store/usage-stores.ts'

const FAULT = new Error('the store is away')
const ROWS = [...traffic(60_000, { since: Date.now(), until: Date.now() + 1000, keys: 20, models: 10, channels: 4 })]

/** A repository that fails on demand. */
class Records implements RowRecords {
  readonly rows: UsageRow[] = []
  fault: Error | undefined
  async add(rows: readonly UsageRow[]): Promise<void> {
    await pause(1)
    if (this.fault !== undefined) throw this.fault
    for (const row of rows) this.rows.push(row)
  }
  /** The times given to `sweep`. */
  readonly sweeps: number[] = []
  async sweep(before: number): Promise<void> {
    this.sweeps.push(before)
  }
}

/** Timers of the queue. */
const TIMERS = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] as const

const lines: string[] = []
const note = (_: object, message: string) => void lines.push(message)
const LOG: Log = { info: note, warn: note, error: note }
const queueTo = (records: RowRecords, keep = 1000) =>
  new UsageQueue({ records, log: LOG, retention: keep, isFault: thrown => thrown === FAULT })

describe('the usage queue', () => {
  let records: Records
  beforeEach(() => {
    lines.length = 0
    records = new Records()
  })

  test('tells when the rows so far are stored, whatever others add meanwhile', async () => {
    const queue = queueTo(records)
    let added = 3
    for (const row of ROWS.slice(0, added)) queue.add(row)
    const { add } = records
    records.add = rows => {
      queue.add(ROWS[added++]!)
      return add.call(records, rows)
    }
    await queue.written()
    expect(records.rows.length).toBeGreaterThanOrEqual(3)
    expect(records.rows.length).toBeLessThan(10)
    records.fault = FAULT
    queue.add(ROWS[added++]!)
    await queue.written()
    expect(queue.queued).toBeGreaterThan(0)
    records.add = add
    records.fault = undefined
    await queue.close()
    await queue.written()
    expect(records.rows).toEqual(ROWS.slice(0, added))
  })

  test('writes what it took in batches, in order, and when it is closed', async () => {
    const queue = queueTo(records)
    for (const row of ROWS.slice(0, 100)) queue.add(row)
    await until(() => records.rows.length === 100)
    for (const row of ROWS.slice(100, 150)) queue.add(row)
    await queue.close()
    expect(records.rows).toEqual(ROWS.slice(0, 150))
    expect([queue.storedCount, queue.dropped, queue.queued]).toEqual([150, 0, 0])
  })

  test('takes nothing where nothing is kept', async () => {
    const queue = queueTo(records, 0)
    queue.add(ROWS[0]!)
    await queue.close()
    expect([records.rows.length, queue.queued]).toEqual([0, 0])
  })

  test('holds rows while the store is away, and drops what goes beyond its bound, counted and logged once', async () => {
    records.fault = FAULT
    const queue = queueTo(records)
    for (const row of ROWS) queue.add(row)
    await queue.flush()
    expect([queue.queued, queue.dropped, records.rows.length]).toEqual([50_000, 10_000, 0])
    expect(lines).toHaveLength(1)
    records.fault = undefined
    await queue.flush()
    expect(records.rows).toEqual(ROWS.slice(0, 50_000))
  })

  test('drops a batch that the store refuses for good, and goes on with the next', async () => {
    records.fault = new Error('a bug')
    const queue = queueTo(records)
    queue.add(ROWS[0]!)
    for (let time = 0; time < 3; time++) await queue.flush()
    expect([queue.queued, queue.dropped]).toEqual([0, 1])
    records.fault = undefined
    queue.add(ROWS[1]!)
    await queue.close()
    expect(records.rows).toEqual([ROWS[1]])
  })

  test('loses only the rows that the store refuses, wherever they are in their batch', async () => {
    const bad = new Set([ROWS[0], ROWS[777], ROWS[2500], ROWS[2501], ROWS[4999]])
    const { add } = records
    records.add = async rows => {
      if (rows.some(row => bad.has(row))) throw new Error('this character cannot be stored')
      await add.call(records, rows)
    }
    const queue = queueTo(records)
    for (const row of ROWS.slice(0, 5500)) queue.add(row)
    for (let time = 0; time < 4; time++) await queue.flush()
    expect(records.rows).toEqual(ROWS.slice(0, 5500).filter(row => !bad.has(row)))
    expect([queue.queued, queue.dropped, queue.storedCount]).toEqual([0, 5, 5495])
  })

  test('tries a batch of which nothing can be stored only some hundred times', async () => {
    records.fault = new Error('a bug')
    let calls = 0
    const { add } = records
    records.add = rows => {
      calls++
      return add.call(records, rows)
    }
    const queue = queueTo(records)
    for (const row of ROWS.slice(0, 5000)) queue.add(row)
    for (let time = 0; time < 4; time++) await queue.flush()
    expect([queue.queued, queue.dropped]).toEqual([0, 5000])
    expect(calls).toBeLessThan(500)
  })

  test('deletes no row where recording is turned off while rows are queued', async () => {
    const queue = queueTo(records)
    queue.add(ROWS[0]!)
    queue.reload(0)
    await queue.close()
    expect(records.rows).toEqual([ROWS[0]])
    expect(records.sweeps).toEqual([])
  })

  test('deletes expired rows once an hour, also where nothing is recorded, until it is closed', async () => {
    vi.useFakeTimers({ now: 1e12 })
    try {
      const queue = queueTo(records)
      vi.advanceTimersByTime(2 * HOUR)
      expect(records.sweeps).toEqual([1e12 + HOUR - 1000, 1e12 + 2 * HOUR - 1000])
      queue.reload(0)
      vi.advanceTimersByTime(HOUR)
      queue.reload(1000)
      await queue.close()
      vi.advanceTimersByTime(2 * HOUR)
      expect(records.sweeps).toHaveLength(2)
    } finally {
      vi.useRealTimers()
    }
  })

  test('is closed within five seconds, whatever the store does', async () => {
    vi.useFakeTimers({ toFake: [...TIMERS, 'performance'] })
    try {
      records.fault = FAULT
      const queue = queueTo(records)
      queue.add(ROWS[0]!)
      let isClosed = false
      const closing = queue.close().then(() => (isClosed = true))
      await vi.advanceTimersByTimeAsync(4900)
      expect([isClosed, lines]).toEqual([false, []])
      await vi.advanceTimersByTimeAsync(400)
      await closing
      expect(queue.queued).toBe(1)
      expect(lines).toEqual(['usage was not recorded: the store is unavailable'])
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  test('collects rows for a second, repeats a failed write after two, and adds to neither pause', async () => {
    vi.useFakeTimers({ toFake: [...TIMERS] })
    try {
      const queue = queueTo(records)
      queue.add(ROWS[0]!)
      await vi.advanceTimersByTimeAsync(500)
      queue.add(ROWS[1]!)
      await vi.advanceTimersByTimeAsync(499)
      expect(queue.queued).toBe(2)
      await vi.advanceTimersByTimeAsync(2)
      expect(records.rows).toEqual(ROWS.slice(0, 2))
      records.fault = FAULT
      queue.add(ROWS[2]!)
      await vi.advanceTimersByTimeAsync(1001)
      records.fault = undefined
      queue.add(ROWS[3]!)
      await vi.advanceTimersByTimeAsync(1999)
      expect([records.rows.length, queue.queued]).toEqual([2, 2])
      await vi.advanceTimersByTimeAsync(5)
      expect(records.rows).toEqual(ROWS.slice(0, 4))
      await queue.close()
    } finally {
      vi.useRealTimers()
    }
  })

  test('deletes expired rows after a write, once an hour at most', async () => {
    const queue = queueTo(records)
    for (const row of ROWS.slice(0, 3)) {
      queue.add(row)
      await queue.flush()
    }
    expect(records.sweeps).toHaveLength(1)
    await queue.close()
  })

  test('writes at most 5,000 rows at a time', async () => {
    const sizes: number[] = []
    const add = records.add.bind(records)
    records.add = rows => {
      sizes.push(rows.length)
      return add(rows)
    }
    const queue = queueTo(records)
    for (const row of ROWS.slice(0, 10_001)) queue.add(row)
    expect(await queue.flush()).toBe(true)
    expect(sizes).toEqual([5000, 5000, 1])
    await queue.close()
  })

  test('tells what became of rows that it drops, and of a sweep that fails', async () => {
    records.fault = new Error('a bug')
    records.sweep = async () => Promise.reject(records.fault)
    const queue = queueTo(records)
    queue.add(ROWS[0]!)
    for (let time = 0; time < 3; time++) await queue.flush()
    await pause(1)
    expect(lines).toEqual(['usage cannot be recorded', 'expired usage cannot be deleted'])
    await queue.close()
    const away = new Records()
    away.sweep = async () => Promise.reject(FAULT)
    const other = queueTo(away)
    await other.flush()
    await pause(1)
    expect(lines).toHaveLength(2)
    await other.close()
  })
})

/** Length of a load of 5,000 rows per second, in seconds. `SECONDS=20` gives the full test. */
const SECONDS = Number(process.env['SECONDS'] ?? 3)

describe.each(ENGINES)('the usage queue over %s', (_, open) => {
  let store: UsageStore
  beforeEach(async () => {
    store = await open()
  })
  afterEach(() => store.close())

  test('loses none of 5,000 requests a second', TIMED, async () => {
    const queue = queueTo(store.usage)
    const began = performance.now()
    let taken = 0
    while (taken < SECONDS * 5000) {
      const due = Math.min(((performance.now() - began) / 1000) * 5000, SECONDS * 5000)
      for (; taken < due; taken++) queue.add({ ...ROWS[taken % ROWS.length]!, id: `r${taken}`, at: Date.now() })
      await pause(5)
    }
    await queue.close()
    expect([queue.storedCount, queue.dropped, queue.queued]).toEqual([taken, 0, 0])
    const [sum] = await store.usage.sums({ since: 0, until: Date.now() + 1, by: [], limit: 1 })
    expect(sum!.requests).toBe(taken)
  })
})
