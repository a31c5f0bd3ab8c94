import { ERRORS, type ErrorKind } from '../canonical/error.ts'
import { defined, isObject, type Json, type JsonObject } from '../canonical/node.ts'
import type { Bus } from '../store/cluster/bus.ts'
import type { Channel } from '../upstreams/channel/index.ts'
import { MAX_KEY_REST_SECONDS } from './key-rest.ts'
import { MAX_REST_SECONDS } from './target-failure.ts'

const isErrorKind = (value: Json | undefined): value is ErrorKind =>
  typeof value === 'string' && Object.hasOwn(ERRORS, value)

/** Time for which changes are collected, in milliseconds. Only the last change of each model is sent. */
const BATCH_INTERVAL = 20
/** Maximum number of changes per batch. Needed because callers can invent any number of model names. */
const BATCH_SIZE = 1000

/**
 * Shares rests between processes. A model that rests in one process rests in all of them, and stops resting in all of
 * them once it answers again. Messages contain the remaining time, because the clocks of machines differ.
 */
export class SharedRest {
  private readonly bus: Bus
  private readonly byName: (name: string) => Channel | undefined
  private readonly unsubscribe: () => void
  private changes = new Map<string, JsonObject>()
  private timer: NodeJS.Timeout | undefined

  constructor(bus: Bus, byName: (name: string) => Channel | undefined) {
    this.bus = bus
    this.byName = byName
    this.unsubscribe = bus.subscribe('health', message => this.apply(message))
  }

  /** Publishes every change in the channel's rests. */
  follow(channel: Channel): void {
    const { name, pooled } = channel.config
    channel.resting.onChange = (model, until) => {
      const milliseconds = until === 0 ? 0 : until - Date.now()
      const { refusal, isSilent } = channel.resting
      const silent = isSilent || undefined
      this.publish({ channel: name, milliseconds, ...defined({ key: pooled?.id, model, refusal, silent }) })
    }
  }

  close(): void {
    clearTimeout(this.timer)
    this.unsubscribe()
  }

  private publish(change: JsonObject): void {
    const key = JSON.stringify([change['channel'], change['key'], change['model']])
    if (this.changes.size < BATCH_SIZE || this.changes.has(key)) this.changes.set(key, change)
    this.timer ??= setTimeout(this.flush, BATCH_INTERVAL).unref()
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
    const { channel: name, key, model, milliseconds, refusal, silent } = change
    const found = typeof name === 'string' ? this.byName(name) : undefined
    const channel = typeof key === 'string' ? found?.keyOf(key) : found
    if (channel === undefined || typeof milliseconds !== 'number') return
    const now = Date.now()
    const maxRest = (channel.parent === undefined ? MAX_REST_SECONDS : MAX_KEY_REST_SECONDS) * 1000
    const until = milliseconds > 0 ? now + Math.min(milliseconds, maxRest) : 0
    channel.resting.apply(typeof model === 'string' ? model : undefined, until, now, {
      refusal: isErrorKind(refusal) ? refusal : undefined,
      silent: silent === true,
    })
  }
}
