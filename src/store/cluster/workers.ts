import cluster from 'node:cluster'
import type { Log } from '../../log.ts'
import type { Hub } from './hub.ts'
import { WorkerProcess } from './worker-process.ts'

export interface WorkersOptions {
  readonly hub: Hub
  readonly log: Log
  /** Take whole lines of the workers' standard output, and of their standard error. */
  out(lines: string): void
  fault(lines: string): void
  /** The worker whose `Cluster` had that id ended: what it held is to be given back. */
  ended(id: string): void
}

/** A worker that lived for fewer milliseconds died young: its successor may do the same. */
const YOUNG = 10_000
/** Milliseconds before the successor of the second one in a row that died young, and at most. */
const FIRST_PAUSE = 100
const LONGEST_PAUSE = 10_000

/**
 * The worker processes of one machine. They accept connections at one shared socket: none is refused while a worker is
 * replaced, and none was given to a worker that is gone.
 */
export class Workers {
  private readonly options: WorkersOptions
  private all: readonly WorkerProcess[] = []
  private leader: WorkerProcess | undefined
  private youngDeaths = 0
  private wanted = 0
  private readonly pauses = new Set<NodeJS.Timeout>()
  private stopped = false

  constructor(options: WorkersOptions) {
    this.options = options
    // Round robin would lose the connections that a worker was just given when it dies.
    cluster.schedulingPolicy = cluster.SCHED_NONE
    cluster.setupPrimary({ silent: true })
  }

  /** Process ids of those that are to stay. */
  get pids(): readonly number[] {
    return this.active.map(({ pid }) => pid)
  }

  /** Starts so many workers. Resolves with the address they all listen at; rejects where one of them cannot. */
  async start(count: number): Promise<string> {
    this.wanted = count
    const started = Array.from({ length: count }, () => this.fork())
    try {
      const [address] = await Promise.all(started.map(one => one.address))
      return address!
    } catch (thrown) {
      this.kill()
      await Promise.all(started.map(({ exited }) => exited))
      throw thrown
    }
  }

  /** Has so many workers, and leaves those alone that there are. Rejects where a new one cannot start. */
  async resize(count: number): Promise<void> {
    this.wanted = count
    for (const excess of this.active.slice(count)) this.retire(excess)
    while (this.active.length < count && !this.stopped) await this.add()
  }

  /**
   * Replaces all workers, one after the other, by so many. Rejects where a new one cannot start; the others stay then.
   */
  async roll(count: number): Promise<void> {
    const former = this.active
    this.wanted = Math.max(count, former.length)
    for (let index = 0; index < Math.max(count, former.length) && !this.stopped; index++) {
      if (index < count) await this.add()
      const old = former[index]
      if (old !== undefined) this.retire(old)
    }
    this.wanted = count
  }

  /** Sends an order to all workers. */
  order(topic: string, message: string | boolean | null = null): void {
    for (const one of this.all) one.order(topic, message)
  }

  /** Ends all workers; those that are not done after so many milliseconds are killed. */
  async stop(signal: NodeJS.Signals, milliseconds: number): Promise<void> {
    this.end()
    this.order('stop', signal)
    const late = setTimeout(() => this.kill(), milliseconds)
    await Promise.all(this.all.map(({ exited }) => exited))
    clearTimeout(late)
  }

  kill(): void {
    this.end()
    for (const one of this.all) one.kill()
  }

  private get active(): readonly WorkerProcess[] {
    return this.all.filter(({ leaving }) => !leaving)
  }

  private end(): void {
    this.stopped = true
    for (const timer of this.pauses) clearTimeout(timer)
    for (const one of this.all) one.leaving = true
  }

  /** A further worker, or the reason why there is none. */
  private async add(): Promise<void> {
    const one = this.fork()
    // One that cannot start has no successor.
    one.leaving = true
    await one.address.catch(async (thrown: unknown) => {
      one.kill()
      await one.exited
      throw thrown
    })
    one.leaving = this.stopped
  }

  private retire(one: WorkerProcess): void {
    one.leaving = true
    this.lead()
    one.order('retire')
  }

  private fork(): WorkerProcess {
    const { hub, out, fault } = this.options
    const one = new WorkerProcess({
      ...{ hub, out, fault },
      listening: () => this.lead(),
      ended: (_, how) => this.ended(one, how),
    })
    this.all = [...this.all, one]
    return one
  }

  private ended(one: WorkerProcess, how: string): void {
    this.all = this.all.filter(other => other !== one)
    if (one.id !== undefined) this.options.ended(one.id)
    this.lead()
    if (!one.leaving) this.replace(one, how)
  }

  private replace(one: WorkerProcess, how: string): void {
    const young = performance.now() - one.since < YOUNG
    this.youngDeaths = young ? this.youngDeaths + 1 : 0
    const pause = this.youngDeaths < 2 ? 0 : Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (this.youngDeaths - 2))
    const reason = one.id === undefined ? { fault: one.reason } : {}
    this.options.log.error({ pid: one.pid, how, ...reason, pause }, 'a worker died and is replaced')
    const timer = setTimeout(() => {
      this.pauses.delete(timer)
      if (this.active.length < this.wanted) this.succeed(one.pid)
    }, pause)
    this.pauses.add(timer)
  }

  private succeed(former: number): void {
    const one = this.fork()
    one.address.then(
      () => this.options.log.info({ pid: one.pid, former }, 'a worker takes its place'),
      () => {},
    )
  }

  /** One worker that listens does what one process of the machine should do. */
  private lead(): void {
    if (this.leader !== undefined && this.active.includes(this.leader)) return
    this.leader?.order('lead', false)
    this.leader = this.active.find(({ id }) => id !== undefined)
    this.leader?.order('lead', true)
  }
}
