import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Log } from '../../src/log/index.ts'
import { UsageLog, type UsageSink } from '../../src/usage/log.ts'
import type { UsageRow } from '../../src/usage/row.ts'
import { pause, TIMED, until } from '../builders/time.ts'
import { traffic } from '../builders/usage.ts'
import { ENGINES, type UsageStore } from '../store/usage-stores.ts'

const FAULT = new Error('the store is away')
const ROWS = [...traffic(60_000, { since: Date.now(), until: Date.now() + 1000, keys: 20, models: 10, channels: 4 })]

/** A sink that fails as it is told. */
class Sink implements UsageSink {
  readonly rows: UsageRow[] = []
  fault: Error | undefined
  async add(rows: readonly UsageRow[]): Promise<void> {
    await pause(1)
    if (this.fault !== undefined) throw this.fault
    for (const row of rows) this.rows.push(row)
  }
  async sweep(): Promise<void> {}
}

const lines: string[] = []
const note = (_: object, message: string) => void lines.push(message)
const LOG: Log = { info: note, warn: note, error: note }
const logTo = (sink: UsageSink, keep = 1000) =>
  new UsageLog({ sink, log: LOG, keep, isFault: thrown => thrown === FAULT })

describe('the usage log', () => {
  let sink: Sink
  beforeEach(() => {
    lines.length = 0
    sink = new Sink()
  })

  test('writes what it took in batches, in order, and when it is closed', async () => {
    const log = logTo(sink)
    for (const row of ROWS.slice(0, 100)) log.take(row)
    await until(() => sink.rows.length === 100)
    for (const row of ROWS.slice(100, 150)) log.take(row)
    await log.close()
    expect(sink.rows).toEqual(ROWS.slice(0, 150))
    expect([log.written, log.dropped, log.queued]).toEqual([150, 0, 0])
  })

  test('takes nothing where nothing is kept', async () => {
    const log = logTo(sink, 0)
    log.take(ROWS[0]!)
    await log.close()
    expect([sink.rows.length, log.queued]).toEqual([0, 0])
  })

  test('holds rows while the store is away, and drops what goes beyond its bound, counted and logged once', async () => {
    sink.fault = FAULT
    const log = logTo(sink)
    for (const row of ROWS) log.take(row)
    await log.flush()
    expect([log.queued, log.dropped, sink.rows.length]).toEqual([50_000, 10_000, 0])
    expect(lines).toHaveLength(1)
    sink.fault = undefined
    await log.flush()
    expect(sink.rows).toEqual(ROWS.slice(0, 50_000))
  })

  test('drops a batch that the store refuses for good, and goes on with the next', async () => {
    sink.fault = new Error('a bug')
    const log = logTo(sink)
    log.take(ROWS[0]!)
    for (let time = 0; time < 3; time++) await log.flush()
    expect([log.queued, log.dropped]).toEqual([0, 1])
    sink.fault = undefined
    log.take(ROWS[1]!)
    await log.close()
    expect(sink.rows).toEqual([ROWS[1]])
  })

  test('is closed in bounded time, whatever the store does', async () => {
    sink.fault = FAULT
    const log = logTo(sink)
    log.take(ROWS[0]!)
    await log.close()
    expect(log.queued).toBe(1)
    expect(lines).toEqual(['usage was not recorded: the store took none'])
  })
})

/** Seconds for which 5,000 rows a second are taken: `SECONDS=20` for the whole test. */
const SECONDS = Number(process.env['SECONDS'] ?? 3)

describe.each(ENGINES)('the usage log over %s', (_, open) => {
  let store: UsageStore
  beforeEach(async () => {
    store = await open()
  })
  afterEach(() => store.close())

  test('loses none of 5,000 requests a second', TIMED, async () => {
    const log = logTo(store.usage)
    const began = performance.now()
    let taken = 0
    while (taken < SECONDS * 5000) {
      const due = Math.min(((performance.now() - began) / 1000) * 5000, SECONDS * 5000)
      for (; taken < due; taken++) log.take({ ...ROWS[taken % ROWS.length]!, id: `r${taken}`, at: Date.now() })
      await pause(5)
    }
    await log.close()
    expect([log.written, log.dropped, log.queued]).toEqual([taken, 0, 0])
    const [sum] = await store.usage.sums({ since: 0, until: Date.now() + 1, by: [], limit: 1 })
    expect(sum!.requests).toBe(taken)
  })
})
