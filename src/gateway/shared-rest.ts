import { isObject, type Json, type JsonObject } from '../canonical/node.ts'
import type { Bus } from '../store/cluster/bus.ts'
import type { Channel } from '../upstreams/channel/index.ts'
import { LONGEST_REST } from './target-failure.ts'

/** ms; changes are collected for so long, and only the last change of a model is sent. */
const EVERY = 20
/** Maximum number of changes per batch. Callers can invent names of models, so their number must be bounded. */
const MOST = 1000

/**
 * Shares rests between processes: what rests in one rests in all, and what answers again in one is awake in all. Sends
 * the remaining time, because the clocks of machines differ.
 */
export class SharedRest {
  private readonly bus: Bus
  private readonly byName: (name: string) => Channel | undefined
  private readonly end: () => void
  private changes = new Map<string, JsonObject>()
  private timer: NodeJS.Timeout | undefined

  constructor(bus: Bus, byName: (name: string) => Channel | undefined) {
    this.bus = bus
    this.byName = byName
    this.end = bus.subscribe('health', message => this.apply(message))
  }

  /** Publishes every change of the channel's rests. */
  follow(channel: Channel): void {
    const { name } = channel.config
    channel.resting.onChange = (model, until) => {
      const milliseconds = until === 0 ? 0 : until - Date.now()
      this.publish({ channel: name, milliseconds, ...(model === undefined ? {} : { model }) })
    }
  }

  close(): void {
    clearTimeout(this.timer)
    this.end()
  }

  private publish(change: JsonObject): void {
    const key = `${String(change['channel'])}\n${String(change['model'] ?? '')}`
    if (this.changes.size < MOST || this.changes.has(key)) this.changes.set(key, change)
    this.timer ??= setTimeout(this.flush, EVERY).unref()
  }

  private readonly flush = (): void => {
    const changes = [...this.changes.values()]
    this.changes = new Map()
    this.timer = undefined
    this.bus.publish('health', changes)
  }

  private apply(message: Json): void {
    if (Array.isArray(message)) for (const change of message as readonly Json[]) this.applyOne(change)
  }

  private applyOne(change: Json): void {
    if (!isObject(change)) return
    const { channel: name, model, milliseconds } = change
    const channel = typeof name === 'string' ? this.byName(name) : undefined
    if (channel === undefined || typeof milliseconds !== 'number') return
    const now = Date.now()
    const until = milliseconds > 0 ? now + Math.min(milliseconds, LONGEST_REST * 1000) : 0
    channel.resting.apply(typeof model === 'string' ? model : undefined, until, now)
  }
}
