import cluster from 'node:cluster'
import { availableParallelism } from 'node:os'
import type { Log } from '../../log.ts'
import type { Hub } from './hub.ts'
import { endHungWorkers } from './hung-workers.ts'
import { WorkerProcess } from './worker-process.ts'

/** The hub, the log, and the listeners of the workers' events. */
export interface WorkersOptions {
  readonly hub: Hub
  readonly log: Log
  /** Receives complete lines of the workers' standard output. `fault` receives lines of their standard error. */
  out(lines: string): void
  fault(lines: string): void
  /** Called when the worker with that `Cluster` id ended, so that its resources are released. */
  ended(id: string): void
}

/**
 * Minimum lifetime of a worker, in milliseconds. A worker that ends earlier counts as dying young, and its successor
 * may die in the same way.
 */
const MIN_LIFETIME_MS = 10_000
/** Delay before replacing the second consecutive worker that died young, in milliseconds. It doubles with each one. */
const FIRST_DELAY_MS = 100
/**
 * Maximum number of workers that start at the same time. More of them would share the cores, and the last ones would
 * not listen within their time.
 */
const MAX_STARTS = Math.max(4, availableParallelism())
/** Maximum delay before a worker is replaced, in milliseconds. */
const MAX_DELAY_MS = 10_000

/**
 * The worker processes of one machine. They share a listening socket, so that replacing a worker refuses no connection.
 */
export class Workers {
  private readonly options: WorkersOptions
  private workers: readonly WorkerProcess[] = []
  private leader: WorkerProcess | undefined
  private youngDeaths = 0
  private targetCount = 0
  private readonly pauses = new Set<NodeJS.Timeout>()
  private stopped = false
  private readonly endPings: () => void

  constructor(options: WorkersOptions) {
    this.options = options
    // Round robin would lose connections that were just assigned to a dying worker.
    cluster.schedulingPolicy = cluster.SCHED_NONE
    cluster.setupPrimary({ silent: true })
    this.endPings = endHungWorkers(() => this.workers, options.log)
  }

  /** Process ids of the active workers. */
  get pids(): readonly number[] {
    return this.active.flatMap(({ pid }) => pid ?? [])
  }

  /** Starts workers and resolves with their shared address. Rejects if one of them cannot start. */
  async start(count: number): Promise<string> {
    this.targetCount = count
    const started: WorkerProcess[] = []
    const startNext = async (): Promise<void> => {
      while (this.active.length < count && !this.stopped) {
        const one = this.fork()
        started.push(one)
        await one.address
      }
    }
    try {
      await Promise.all(Array.from({ length: Math.min(count, MAX_STARTS) }, startNext))
      return await started[0]!.address
    } catch (thrown) {
      this.kill()
      await Promise.all(started.map(({ exited }) => exited))
      throw thrown
    }
  }

  /** Adds or ends workers until there are `count`. Rejects if a new one cannot start. */
  async resize(count: number): Promise<void> {
    this.targetCount = count
    for (const excess of this.active.slice(count)) this.retire(excess)
    while (this.active.length < count && !this.stopped) await this.add()
  }

  /**
   * Replaces all workers, one after the other, by `count` new ones. Rejects if a new worker cannot start, and then
   * keeps the remaining old ones.
   */
  async roll(count: number): Promise<void> {
    const oldWorkers = this.active
    this.targetCount = Math.max(count, oldWorkers.length)
    for (let index = 0; index < Math.max(count, oldWorkers.length) && !this.stopped; index++) {
      if (index < count) await this.add()
      const old = oldWorkers[index]
      if (old !== undefined) this.retire(old)
    }
    this.targetCount = count
  }

  /** Sends an order to all workers. */
  order(topic: string, message: string | boolean | null = null): void {
    for (const one of this.workers) one.order(topic, message)
  }

  /** Ends all workers, and kills those that are still running after the given number of milliseconds. */
  async stop(signal: NodeJS.Signals, milliseconds: number): Promise<void> {
    this.end()
    this.order('stop', signal)
    const killTimer = setTimeout(() => this.kill(), milliseconds)
    await Promise.all(this.workers.map(({ exited }) => exited))
    clearTimeout(killTimer)
  }

  kill(): void {
    this.end()
    for (const one of this.workers) one.kill()
  }

  /** Workers that are not shutting down. */
  private get active(): readonly WorkerProcess[] {
    return this.workers.filter(({ isLeaving }) => !isLeaving)
  }

  private end(): void {
    this.stopped = true
    this.endPings()
    for (const timer of this.pauses) clearTimeout(timer)
    for (const one of this.workers) one.isLeaving = true
  }

  /** Starts one more worker. Rejects with the reason if it cannot start. */
  private async add(): Promise<void> {
    const one = this.fork()
    // A worker that cannot start is not replaced.
    one.isLeaving = true
    await one.address.catch(async (thrown: unknown) => {
      one.kill()
      await one.exited
      throw thrown
    })
    one.isLeaving = this.stopped
  }

  /** Ends a worker gracefully. */
  private retire(one: WorkerProcess): void {
    one.isLeaving = true
    this.lead()
    one.order('retire')
  }

  /** Creates a process. Throws the system's error if the machine has no memory for it. */
  private fork(): WorkerProcess {
    const { hub, out, fault } = this.options
    const one = new WorkerProcess({
      ...{ hub, out, fault },
      listening: () => this.lead(),
      ended: (_, exitReason) => this.ended(one, exitReason),
    })
    this.workers = [...this.workers, one]
    return one
  }

  private ended(one: WorkerProcess, exitReason: string): void {
    this.workers = this.workers.filter(other => other !== one)
    if (one.id !== undefined) this.options.ended(one.id)
    this.lead()
    if (!one.isLeaving) this.replace(one, exitReason)
  }

  /** Schedules the successor of a worker that died. */
  private replace(one: WorkerProcess, exitReason: string): void {
    const pause = this.pauseAfter(performance.now() - one.since < MIN_LIFETIME_MS)
    const reason = one.id === undefined ? { fault: one.reason } : {}
    this.options.log.error({ pid: one.pid, how: exitReason, ...reason, pause }, 'a worker died and is replaced')
    this.scheduleSuccessor(one.pid, pause)
  }

  /** Returns the time until the next attempt, in milliseconds. It doubles with each worker that dies young. */
  private pauseAfter(isYoung: boolean): number {
    this.youngDeaths = isYoung ? this.youngDeaths + 1 : 0
    return this.youngDeaths < 2 ? 0 : Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (this.youngDeaths - 2))
  }

  private scheduleSuccessor(former: number | undefined, pause: number): void {
    const timer = setTimeout(() => {
      this.pauses.delete(timer)
      if (this.active.length < this.targetCount) this.startSuccessor(former)
    }, pause)
    this.pauses.add(timer)
  }

  private startSuccessor(former: number | undefined): void {
    try {
      const one = this.fork()
      one.address.then(
        () => this.options.log.info({ pid: one.pid, former }, 'a dead worker was replaced'),
        () => {},
      )
    } catch (thrown) {
      const pause = this.pauseAfter(true)
      this.options.log.error({ former, fault: String(thrown), pause }, 'a worker cannot be created')
      this.scheduleSuccessor(former, pause)
    }
  }

  /** Chooses one listening worker for the background work of the machine. */
  private lead(): void {
    if (this.leader !== undefined && this.active.includes(this.leader)) return
    this.leader?.order('lead', false)
    this.leader = this.active.find(({ id }) => id !== undefined)
    this.leader?.order('lead', true)
  }
}
