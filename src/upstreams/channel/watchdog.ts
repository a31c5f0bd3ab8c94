import { type Listed, UnorderedList } from '../../canonical/lists.ts'

/** Something that must not be silent for too long. */
export interface Watched extends Listed {
  /** How long it may be silent, in milliseconds; undefined for no limit. */
  readonly silenceLimit: number | undefined
  /** The watchdog's time of its last activity. */
  lastActivity: number
  /** Called when it was silent for too long. */
  expire(): void
}

/** Milliseconds between two checks: a quarter of the shortest limit, within these bounds. */
const SHORTEST = 20
const LONGEST = 500
/** Milliseconds a check may be late without that meaning anything. */
const LATE = 500

/**
 * Watches all exchanges of a channel with one timer. A timer for each would be made anew for every request and every
 * answer; here, recording activity is copying a number.
 */
export class Watchdog {
  /** Milliseconds, as of the last check. */
  now = performance.now()
  private readonly watched = new UnorderedList<Watched>()
  private readonly every: number
  private timer: NodeJS.Timeout | undefined

  /** `shortest` is the shortest limit there will be, in milliseconds. */
  constructor(shortest: number) {
    this.every = Math.min(LONGEST, Math.max(SHORTEST, shortest / 4))
  }

  /** Begins to watch, with activity now. */
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
    // This process was busy itself: what arrived meanwhile is read before anything counts as silent.
    if (this.now - before > LATE + this.every) return
    if (this.watched.size === 0) {
      clearInterval(this.timer)
      this.timer = undefined
    }
    this.watched.forEach(one => {
      if (one.silenceLimit !== undefined && this.now - one.lastActivity > one.silenceLimit) one.expire()
    })
  }
}
