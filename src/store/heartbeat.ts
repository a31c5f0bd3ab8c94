import { randomBytes } from 'node:crypto'
import { type Liveness, PROCESS_ID } from './liveness.ts'
import type { Processes } from './process-repository.ts'

/** Interval between two heartbeats, in milliseconds. A process counts as dead after four missed ones. */
const BEAT_INTERVAL_MS = 5000

/**
 * Detects which processes that share a database server are alive. Each process writes a heartbeat row, timed by the
 * server's clock.
 */
export class Heartbeat implements Liveness {
  readonly id: string = randomBytes(16).toString('hex')
  private readonly processes: Processes
  private timer: NodeJS.Timeout | undefined
  private opening: Promise<void> | undefined

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
    return this.processes.isAlive(id).catch(() => undefined)
  }

  async close(): Promise<void> {
    clearInterval(this.timer)
    if (this.opening === undefined) return
    this.opening = undefined
    await this.processes.end(this.id).catch(() => {})
  }
}
