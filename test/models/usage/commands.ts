import fc from 'fast-check'
import { expect } from 'vitest'
import { UsageQueue } from '../../../src/accounts/usage/queue.ts'
import type { UsageRecords } from '../../../src/store/usage-records.ts'
import { traffic } from '../../builders/usage.ts'
import type { UsageStore } from '../../store/usage-stores.ts'
import type { Failure } from '../failing.ts'
import type { UsageModel } from './model.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
/** Retention of rows, in milliseconds. */
const RETENTION = 3 * DAY

class Away extends Error {}

/** One process that records usage. */
interface Process {
  readonly records: UsageRecords
  readonly queue: UsageQueue
  /** How the next batch fails. */
  failure: Failure | undefined
}

/** Processes that share a store. */
export class World {
  readonly processes: readonly Process[]
  private readonly store: UsageStore

  private constructor(store: UsageStore, processes: readonly Process[]) {
    this.store = store
    this.processes = processes
  }

  static async open(store: UsageStore, count: number): Promise<World> {
    const processes: Process[] = []
    for (let number = 0; number < count; number++)
      processes.push(recording(number === 0 ? store.usage : await store.other()))
    return new World(store, processes)
  }

  async close(): Promise<void> {
    for (const { queue } of this.processes) await queue.close()
    await this.store.close()
  }
}

function recording(records: UsageRecords): Process {
  const process: Process = {
    records,
    failure: undefined,
    queue: new UsageQueue({
      records: {
        async add(rows) {
          const { failure } = process
          process.failure = undefined
          if (failure !== 'before') await records.add(rows)
          if (failure !== undefined) throw new Away()
        },
        // A command of its own deletes rows, at the time of the model.
        sweep: async () => {},
      },
      log: { info() {}, warn() {}, error() {} },
      retention: RETENTION,
      isFault: thrown => thrown instanceof Away,
    }),
  }
  return process
}

type Command = fc.AsyncCommand<UsageModel, World>

/** Requests end at a process, within the last hours. A process that keeps nothing records nothing. */
class Take implements Command {
  private readonly process: number
  private readonly count: number
  private readonly isKept: boolean

  constructor(process: number, count: number, isKept: boolean) {
    this.process = process
    this.count = count
    this.isKept = isKept
  }

  check = (): boolean => true

  async run(model: UsageModel, { processes }: World): Promise<void> {
    const { queue } = processes[this.process]!
    const span = { since: model.now - 5 * HOUR, until: model.now, keys: 2, models: 2, channels: 1 }
    if (!this.isKept) queue.reload(0)
    for (const row of traffic(this.count, span, ++model.count)) {
      queue.add(row)
      if (this.isKept) model.queues[this.process]!.waiting.push(row)
    }
    queue.reload(RETENTION)
  }

  toString = (): string => `Take(${this.process}, ${this.count}, ${this.isKept})`
}

/** A process writes its rows. The first batch may fail. */
class Flush implements Command {
  private readonly process: number
  private readonly failure: Failure | undefined

  constructor(process: number, failure: Failure | undefined) {
    this.process = process
    this.failure = failure
  }

  check = (): boolean => true

  async run(model: UsageModel, { processes }: World): Promise<void> {
    const process = processes[this.process]!
    process.failure = this.failure
    expect(await process.queue.flush()).toBe(model.flush(this.process, this.failure))
    process.failure = undefined
  }

  toString = (): string => `Flush(${this.process}, ${this.failure})`
}

/**
 * A process deletes rows that are no longer kept. A batch that was stored while its answer was lost is repeated within
 * minutes, so never after its rows were deleted.
 */
class Sweep implements Command {
  private readonly process: number

  constructor(process: number) {
    this.process = process
  }

  check = ({ queues, stored }: Readonly<UsageModel>): boolean =>
    queues.every(({ batch }) => !batch.some(({ id }) => stored.has(id)))

  async run(model: UsageModel, { processes }: World): Promise<void> {
    // The lease of another process that deleted rows ends within a minute.
    model.now += 61_000
    model.sweep(model.now - RETENTION)
    await processes[this.process]!.records.sweep(model.now - RETENTION)
  }

  toString = (): string => `Sweep(${this.process})`
}

/** Somebody reads rows, sums and spend at a process. */
class Read implements Command {
  private readonly process: number

  constructor(process: number) {
    this.process = process
  }

  check = (): boolean => true

  async run(model: UsageModel, { processes }: World): Promise<void> {
    const { records } = processes[this.process]!
    const span = { since: 0, until: model.now + DAY }
    const { rows } = await records.rows({ ...span, limit: 10_000 })
    expect(rows.map(({ id }) => id)).toEqual(model.rows())
    const shown = async (every: 'hour' | 'day') =>
      (await records.sums({ ...span, by: [], every, limit: 10_000 })).map(({ at, requests, cost }) => ({
        ...{ at, requests, cost },
      }))
    expect(await shown('day')).toEqual(model.sums(DAY))
    expect(await shown('hour')).toEqual(model.sums(HOUR))
    for (const key of new Set([...model.stored.values()].map(row => row.key!)))
      expect(await records.spent(key, model.now)).toEqual(model.spent(key))
  }

  toString = (): string => `Read(${this.process})`
}

class Wait implements Command {
  private readonly milliseconds: number

  constructor(milliseconds: number) {
    this.milliseconds = milliseconds
  }

  check = (): boolean => true

  async run(model: UsageModel): Promise<void> {
    model.now += this.milliseconds
  }

  toString = (): string => `Wait(${this.milliseconds})`
}

const failure = fc.constantFrom(undefined, 'before' as const, 'after' as const)

/** @param count number of processes. */
export function commands(count: number): fc.Arbitrary<Command>[] {
  const process = fc.nat(count - 1)
  return [
    fc.tuple(process, fc.nat(9), fc.boolean()).map(given => new Take(...given)),
    ...[1, 2].map(() => fc.tuple(process, failure).map(given => new Flush(...given))),
    process.map(at => new Sweep(at)),
    process.map(at => new Read(at)),
    fc.constantFrom(61_000, HOUR, DAY).map(milliseconds => new Wait(milliseconds)),
  ]
}
