import type { Caller } from '../accounts/index.ts'
import type { Json } from '../canonical/node.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { Bus } from '../store/cluster/bus.ts'
import { recordedModel, type UsageRow } from '../store/usage/row.ts'
import type { Call } from './call.ts'

/** A request that has started: a subset of its later usage row. */
export interface LiveBeginning
  extends Pick<UsageRow, 'id' | 'at' | 'key' | 'keyName' | 'group' | 'model' | 'door' | 'format' | 'stream'> {
  readonly isCaptured: boolean
}

/** An event of the live view: a request begins, or its usage row is complete. */
export type LiveEvent =
  | { readonly type: 'begun'; readonly request: LiveBeginning }
  | { readonly type: 'over'; readonly request: UsageRow }

/** A subscriber of the live view. */
export interface LiveListener {
  /** The operator who is watching. */
  readonly owner: string
  take(event: LiveEvent): void
  /** Called when the gateway stops. No event follows. */
  end(): void
}

/**
 * Interval between two announcements that this process watches, and time for which other processes trust one, in
 * milliseconds.
 */
const ANNOUNCE_EVERY = 5000
const ANNOUNCEMENT_HOLDS = 15_000
/** Time between two batches of events on the bus, in milliseconds, and maximum number of events per batch. */
const BATCH_EVERY = 200
const BATCH_SIZE = 200

/**
 * Publishes requests as they begin and end, in this process and to other processes over the bus. Does nothing while
 * nobody watches.
 */
export class Live {
  /** Whether anybody watches, in this process or in another. */
  isWatched = false
  private readonly bus: Bus
  private readonly listeners = new Set<LiveListener>()
  private readonly stops: readonly (() => void)[]
  private elsewhereUntil = 0
  private outgoing: LiveEvent[] = []
  private announcing: NodeJS.Timeout | undefined
  private sending: NodeJS.Timeout | undefined
  private forgetting: NodeJS.Timeout | undefined

  constructor(bus: Bus) {
    this.bus = bus
    this.stops = [
      bus.subscribe('live-watched', () => this.watchedElsewhere()),
      bus.subscribe('live', events => this.received(events as unknown as readonly LiveEvent[])),
    ]
  }

  /** The number of listeners in this process. */
  get size(): number {
    return this.listeners.size
  }

  /** The number of this owner's listeners in this process. */
  sizeOf(owner: string): number {
    let count = 0
    for (const listener of this.listeners) if (listener.owner === owner) count++
    return count
  }

  /**
   * Subscribes a listener.
   *
   * @returns a function that unsubscribes it.
   */
  listen(listener: LiveListener): () => void {
    this.listeners.add(listener)
    this.isWatched = true
    this.announcing ??= setInterval(() => this.bus.publish('live-watched', null), ANNOUNCE_EVERY).unref()
    this.bus.publish('live-watched', null)
    return () => {
      this.listeners.delete(listener)
      if (this.listeners.size > 0) return
      clearInterval(this.announcing)
      this.announcing = undefined
      this.updateWatched()
    }
  }

  /** Publishes that a request was read. Call only while `isWatched`. */
  requestBegan(
    { id, path, format }: Call,
    { id: key, key: keyName, group }: Caller,
    request: CanonicalRequest,
    isCaptured: boolean,
  ): void {
    const { stream, model } = request
    const about = { id, at: Date.now(), key, keyName, group, model: recordedModel(model), door: path, format, stream }
    this.publish({ type: 'begun', request: { ...about, isCaptured } })
  }

  /** Publishes that a request has ended. Call only while `isWatched`. */
  requestEnded(row: UsageRow): void {
    this.publish({ type: 'over', request: row })
  }

  /** Ends all listeners of this process. */
  end(): void {
    for (const listener of [...this.listeners]) listener.end()
  }

  close(): void {
    for (const stop of this.stops) stop()
    clearInterval(this.announcing)
    clearTimeout(this.sending)
    clearTimeout(this.forgetting)
    this.listeners.clear()
    this.isWatched = false
  }

  private publish(event: LiveEvent): void {
    for (const listener of this.listeners) listener.take(event)
    if (this.elsewhereUntil <= Date.now() || this.outgoing.length >= BATCH_SIZE) return
    this.outgoing.push(event)
    this.sending ??= setTimeout(() => {
      this.sending = undefined
      const events = this.outgoing
      this.outgoing = []
      this.bus.publish('live', events as unknown as Json)
    }, BATCH_EVERY).unref()
  }

  private received(events: readonly LiveEvent[]): void {
    for (const event of events) for (const listener of this.listeners) listener.take(event)
  }

  private watchedElsewhere(): void {
    this.elsewhereUntil = Date.now() + ANNOUNCEMENT_HOLDS
    this.isWatched = true
    clearTimeout(this.forgetting)
    this.forgetting = setTimeout(() => this.updateWatched(), ANNOUNCEMENT_HOLDS + 1).unref()
  }

  private updateWatched(): void {
    this.isWatched = this.listeners.size > 0 || this.elsewhereUntil > Date.now()
  }
}
