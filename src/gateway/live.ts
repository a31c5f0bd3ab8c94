import type { Caller } from '../accounts/index.ts'
import { isObject, type Json } from '../canonical/node.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { Bus } from '../store/cluster/bus.ts'
import { recordedModel, type UsageRow } from '../store/usage/row.ts'
import type { Call } from './call.ts'

/** A request that has started: a subset of its later usage row. */
export interface LiveBeginning
  extends Pick<UsageRow, 'id' | 'at' | 'key' | 'keyName' | 'group' | 'model' | 'door' | 'format' | 'stream'> {
  readonly isCaptured: boolean
}

/** An event of the live view: a request has started, or its usage row is complete. */
export type LiveEvent =
  | { readonly type: 'begun'; readonly request: LiveBeginning }
  | { readonly type: 'over'; readonly request: UsageRow }

/** A subscriber of the live view. */
export interface LiveListener {
  /** The operator who is watching. */
  readonly owner: string
  take(event: LiveEvent): void
  /** Called when the gateway stops. No more events follow. */
  end(): void
}

/** Interval at which a process announces that it has listeners, in milliseconds. */
const ANNOUNCE_INTERVAL = 5000
/** Time for which an announcement is valid, in milliseconds. */
const ANNOUNCEMENT_LIFETIME = 15_000
/** Time between two batches of events on the bus, in milliseconds. */
const BATCH_INTERVAL = 200
/** Maximum number of events per batch. */
const BATCH_SIZE = 200

/**
 * Publishes the start and end of requests, in this process and over the bus to other processes. Does nothing while
 * nobody is watching.
 */
export class Live {
  /** True if anybody is watching, in this process or another. */
  isWatched = false
  private readonly bus: Bus
  private readonly listeners = new Set<LiveListener>()
  private readonly unsubscribes: readonly (() => void)[]
  /** End of the latest announcement of another process, by `performance.now()`, which nobody can set. */
  private remoteWatchUntil = Number.NEGATIVE_INFINITY
  private outgoing: LiveEvent[] = []
  private announceTimer: NodeJS.Timeout | undefined
  private sendTimer: NodeJS.Timeout | undefined
  private expiryTimer: NodeJS.Timeout | undefined

  constructor(bus: Bus) {
    this.bus = bus
    this.unsubscribes = [
      bus.subscribe('live-watched', () => this.noteRemoteWatcher()),
      bus.subscribe('live', events => this.deliver(events)),
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
    this.announceTimer ??= setInterval(() => this.bus.publish('live-watched', null), ANNOUNCE_INTERVAL).unref()
    this.bus.publish('live-watched', null)
    return () => {
      this.listeners.delete(listener)
      if (this.listeners.size > 0) return
      clearInterval(this.announceTimer)
      this.announceTimer = undefined
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
    const row = { id, at: Date.now(), key, keyName, group, model: recordedModel(model), door: path, format, stream }
    this.publish({ type: 'begun', request: { ...row, isCaptured } })
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
    for (const stop of this.unsubscribes) stop()
    clearInterval(this.announceTimer)
    clearTimeout(this.sendTimer)
    clearTimeout(this.expiryTimer)
    this.listeners.clear()
    this.isWatched = false
  }

  private publish(event: LiveEvent): void {
    for (const listener of this.listeners) listener.take(event)
    if (this.remoteWatchUntil <= performance.now() || this.outgoing.length >= BATCH_SIZE) return
    this.outgoing.push(event)
    this.sendTimer ??= setTimeout(() => {
      this.sendTimer = undefined
      const events = this.outgoing
      this.outgoing = []
      this.bus.publish('live', events as unknown as Json)
    }, BATCH_INTERVAL).unref()
  }

  /** Delivers the events of another process, which may have another version. Skips what is no event. */
  private deliver(events: Json): void {
    if (!Array.isArray(events)) return
    for (const event of events as readonly Json[])
      if (isLiveEvent(event)) for (const listener of this.listeners) listener.take(event as unknown as LiveEvent)
  }

  private noteRemoteWatcher(): void {
    this.remoteWatchUntil = performance.now() + ANNOUNCEMENT_LIFETIME
    this.isWatched = true
    clearTimeout(this.expiryTimer)
    this.expiryTimer = setTimeout(() => this.updateWatched(), ANNOUNCEMENT_LIFETIME + 1).unref()
  }

  private updateWatched(): void {
    this.isWatched = this.listeners.size > 0 || this.remoteWatchUntil > performance.now()
  }
}

/** Maximum time of a `Date`, in Unix milliseconds. */
const MAX_TIME = 8.64e15

/** Returns true if a notice has what listeners read of every event. */
function isLiveEvent(event: Json): boolean {
  if (!isObject(event) || !isObject(event['request'])) return false
  const { id, at, failure, tries } = event['request']
  const isWhole = typeof id === 'string' && typeof at === 'number' && Math.abs(at) <= MAX_TIME
  const isReadable = (failure === undefined || isObject(failure)) && (tries === undefined || Array.isArray(tries))
  return isWhole && isReadable && (event['type'] === 'begun' || event['type'] === 'over')
}
