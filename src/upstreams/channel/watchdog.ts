import { type ListItem, UnorderedList } from '../../canonical/lists.ts'

/** An object whose silence is limited. */
export interface Watched extends ListItem {
  /** Maximum silence in milliseconds. Undefined for no limit. */
  readonly silenceLimit: number | undefined
  /** The watchdog's `now` at the last activity. */
  lastActivity: number
  /** Called when the object has been silent for too long. */
  expire(): void
}

/** Bounds of the interval between two checks, in milliseconds. The interval is a quarter of the shortest limit. */
const MIN_INTERVAL = 20
const MAX_INTERVAL = 500
/** Delay beyond which a check is skipped, in milliseconds. */
const MAX_LATE = 500

/**
 * Watches all exchanges of a channel with one timer. Recording activity only copies a number, whereas separate timers
 * would have to be created for every request and answer.
 */
export class Watchdog {
  /** Time of the last check on the monotonic clock, in milliseconds. */
  now = performance.now()
  private readonly watched = new UnorderedList<Watched>()
  private readonly every: number
  private timer: NodeJS.Timeout | undefined

  /** @param shortest the shortest limit to be watched, in milliseconds. */
  constructor(shortest: number) {
    this.every = Math.min(MAX_INTERVAL, Math.max(MIN_INTERVAL, shortest / 4))
  }

  /** Starts watching an object. This counts as activity. */
  watch(one: Watched): void {
    this.watched.add(one)
    if (this.timer === undefined) {
      this.now = performance.now()
      this.timer = setInterval(this.check, this.every)
    }
    one.lastActivity = this.now
  }

  unwatch(one: Watched): void {
    this.watched.remove(one)
  }

  private readonly check = (): void => {
    const before = this.now
    this.now = performance.now()
    // The event loop was blocked. The check is skipped, so that data that has arrived in the meantime is read first.
    if (this.now - before > MAX_LATE + this.every) return
    if (this.watched.size === 0) {
      clearInterval(this.timer)
      this.timer = undefined
    }
    this.watched.forEach(one => {
      if (one.silenceLimit !== undefined && this.now - one.lastActivity > one.silenceLimit) one.expire()
    })
  }
}
