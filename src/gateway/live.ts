import type { Caller } from '../accounts/index.ts'
import type { Json } from '../canonical/node.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { Bus } from '../store/cluster/bus.ts'
import { recordedModel, type UsageRow } from '../store/usage/row.ts'
import type { Call } from './call.ts'

/** A request that began, as far as it is known then. */
export interface LiveBeginning
  extends Pick<UsageRow, 'id' | 'at' | 'key' | 'keyName' | 'group' | 'model' | 'door' | 'format' | 'stream'> {
  readonly isCaptured: boolean
}

export type LiveEvent =
  | { readonly type: 'begun'; readonly request: LiveBeginning }
  | { readonly type: 'over'; readonly request: UsageRow }

export interface LiveListener {
  /** Whose it is. */
  readonly owner: string
  take(event: LiveEvent): void
  /** The gateway stops: nothing more comes. */
  end(): void
}

/** How often watching is announced to other processes, and for how long that holds, in milliseconds. */
const SAY = 5000
const HOLD = 15_000
/** How often events go to other processes, and how many of them at once. */
const EVERY = 200
const MOST = 200

/** Requests as they begin and end, here and in the processes that a bus reaches. Where nobody watches nothing is done. */
export class Live {
  /** Somebody watches. */
  isWatched = false
  private readonly bus: Bus
  private readonly listeners = new Set<LiveListener>()
  private readonly stops: readonly (() => void)[]
  private elsewhereUntil = 0
  private outgoing: LiveEvent[] = []
  private saying: NodeJS.Timeout | undefined
  private sending: NodeJS.Timeout | undefined
  private forgetting: NodeJS.Timeout | undefined

  constructor(bus: Bus) {
    this.bus = bus
    this.stops = [
      bus.subscribe('live-watched', () => this.watchedElsewhere()),
      bus.subscribe('live', events => this.came(events as unknown as readonly LiveEvent[])),
    ]
  }

  /** How many listeners there are here. */
  get size(): number {
    return this.listeners.size
  }

  /** How many of them are somebody's. */
  sizeOf(owner: string): number {
    let count = 0
    for (const listener of this.listeners) if (listener.owner === owner) count++
    return count
  }

  /** @returns ends it. */
  listen(listener: LiveListener): () => void {
    this.listeners.add(listener)
    this.isWatched = true
    this.saying ??= setInterval(() => this.bus.publish('live-watched', null), SAY).unref()
    this.bus.publish('live-watched', null)
    return () => {
      this.listeners.delete(listener)
      if (this.listeners.size > 0) return
      clearInterval(this.saying)
      this.saying = undefined
      this.settle()
    }
  }

  /** A request was read. Called where somebody watches. */
  begun(
    { id, path, format }: Call,
    { id: key, key: keyName, group }: Caller,
    request: CanonicalRequest,
    isCaptured: boolean,
  ): void {
    const { stream, model } = request
    const about = { id, at: Date.now(), key, keyName, group, model: recordedModel(model), door: path, format, stream }
    this.happened({ type: 'begun', request: { ...about, isCaptured } })
  }

  /** A request is over. Called where somebody watches. */
  over(row: UsageRow): void {
    this.happened({ type: 'over', request: row })
  }

  /** Ends those who watch. */
  end(): void {
    for (const listener of [...this.listeners]) listener.end()
  }

  close(): void {
    for (const stop of this.stops) stop()
    clearInterval(this.saying)
    clearTimeout(this.sending)
    clearTimeout(this.forgetting)
    this.listeners.clear()
    this.isWatched = false
  }

  private happened(event: LiveEvent): void {
    for (const listener of this.listeners) listener.take(event)
    if (this.elsewhereUntil <= Date.now() || this.outgoing.length >= MOST) return
    this.outgoing.push(event)
    this.sending ??= setTimeout(() => {
      this.sending = undefined
      const events = this.outgoing
      this.outgoing = []
      this.bus.publish('live', events as unknown as Json)
    }, EVERY).unref()
  }

  private came(events: readonly LiveEvent[]): void {
    for (const event of events) for (const listener of this.listeners) listener.take(event)
  }

  private watchedElsewhere(): void {
    this.elsewhereUntil = Date.now() + HOLD
    this.isWatched = true
    clearTimeout(this.forgetting)
    this.forgetting = setTimeout(() => this.settle(), HOLD + 1).unref()
  }

  private settle(): void {
    this.isWatched = this.listeners.size > 0 || this.elsewhereUntil > Date.now()
  }
}
