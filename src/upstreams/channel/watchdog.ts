import { type ListItem, UnorderedList } from '../../canonical/lists.ts'
import { OVERDUE_TIME } from './silence.ts'

/** An object whose silence is limited. */
export interface Watched extends ListItem {
  /** Maximum silence in milliseconds, or undefined for no limit. */
  readonly silenceLimit: number | undefined
  /** The watchdog's `now` at the last activity. */
  lastActivity: number
  /** Called when the object has been silent for too long. */
  expire(): void
  /** Called at each check after `OVERDUE_TIME` of silence. */
  overdue(): void
}

/** Minimum time between two checks, in milliseconds. The interval is a quarter of the shortest limit. */
const MIN_INTERVAL = 20
/** Maximum time between two checks, in milliseconds. */
const MAX_INTERVAL = 500
/** Delay beyond which a check is skipped, in milliseconds. */
const MAX_DELAY = 500

/**
 * Watches all exchanges of a channel with one timer. Recording activity only copies a number, whereas separate timers
 * would have to be created for every request and answer.
 */
export class Watchdog {
  /** Time of the last check on the monotonic clock, in milliseconds. */
  now = performance.now()
  private readonly watched = new UnorderedList<Watched>()
  private readonly interval: number
  private timer: NodeJS.Timeout | undefined

  /** @param shortestLimit the shortest limit to be watched, in milliseconds. */
  constructor(shortestLimit: number) {
    this.interval = Math.min(MAX_INTERVAL, Math.max(MIN_INTERVAL, shortestLimit / 4))
  }

  /** Starts watching an object. This counts as activity. */
  watch(object: Watched): void {
    this.watched.add(object)
    if (this.timer === undefined) {
      this.now = performance.now()
      this.timer = setInterval(this.check, this.interval)
    }
    object.lastActivity = this.now
  }

  unwatch(object: Watched): void {
    this.watched.remove(object)
  }

  private readonly check = (): void => {
    const before = this.now
    this.now = performance.now()
    // The event loop was blocked. The check is skipped, so that data that has arrived in the meantime is read first.
    if (this.now - before > MAX_DELAY + this.interval) return
    if (this.watched.size === 0) {
      clearInterval(this.timer)
      this.timer = undefined
    }
    this.watched.forEach(object => {
      if (object.silenceLimit === undefined) return
      const silence = this.now - object.lastActivity
      if (silence > object.silenceLimit) object.expire()
      else if (silence > OVERDUE_TIME) object.overdue()
    })
  }
}
