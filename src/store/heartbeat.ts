import { randomBytes } from 'node:crypto'
import { putNewest } from '../canonical/bounded-map.ts'
import { type Liveness, PROCESS_ID } from './liveness.ts'
import type { Processes } from './process-repository.ts'

/** Interval between two heartbeats, in milliseconds. */
const BEAT_INTERVAL_MS = 5000
/**
 * Time for which a silent process must stay silent until it counts as dead, in milliseconds. After an outage, and after
 * the server's clock was set, all processes look silent until their next heartbeats.
 */
const WATCH_MS = 8000
/** Maximum number of silent processes that are watched. */
const MAX_WATCHED = 1000

/**
 * Detects which processes that share a database server are alive. Each process writes a heartbeat row, timed by the
 * server's clock.
 */
export class Heartbeat implements Liveness {
  readonly id: string = randomBytes(16).toString('hex')
  private readonly processes: Processes
  private timer: NodeJS.Timeout | undefined
  private opening: Promise<void> | undefined
  /** Times at which other processes were first found silent, by `performance.now()`. */
  private readonly silentSince = new Map<string, number>()

  constructor(processes: Processes) {
    this.processes = processes
  }

  open(): Promise<void> {
    this.opening ??= this.begin().catch(thrown => {
      this.opening = undefined
      throw thrown
    })
    return this.opening
  }

  private async begin(): Promise<void> {
    await this.processes.beat(this.id)
    this.timer = setInterval(() => this.processes.beat(this.id).catch(() => {}), BEAT_INTERVAL_MS).unref()
  }

  async isAlive(id: string): Promise<boolean | undefined> {
    if (id === this.id) return this.opening !== undefined
    if (!PROCESS_ID.test(id)) return undefined
    try {
      const isAlive = await this.processes.isAlive(id)
      if (isAlive === false) return this.hasStayedSilent(id) ? false : undefined
      this.silentSince.delete(id)
      return isAlive ?? false
    } catch {
      return undefined
    }
  }

  private hasStayedSilent(id: string): boolean {
    const now = performance.now()
    const since = this.silentSince.get(id) ?? now
    putNewest(this.silentSince, id, since, MAX_WATCHED)
    return now - since >= WATCH_MS
  }

  async close(): Promise<void> {
    clearInterval(this.timer)
    if (this.opening === undefined) return
    this.opening = undefined
    await this.processes.end(this.id).catch(() => {})
  }
}
