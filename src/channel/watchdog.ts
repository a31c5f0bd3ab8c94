/** Something that must not be silent for too long. */
export interface Watched {
  /** How long it may be silent, in milliseconds; undefined is as long as it likes. */
  readonly patience: number | undefined
  /** The watchdog's time when it was last heard of. */
  heard: number
  /** Where it stands among all that are watched; the watchdog's own. */
  place: number
  /** It was silent for too long. */
  expire(): void
}

/** Milliseconds between two looks: a quarter of the shortest patience, within reason. */
const OFTEN = 20
const SELDOM = 500

/**
 * Looks after all exchanges of a channel with one timer. A timer for each would be made anew for every request and
 * every answer; here, to be heard of is to copy a number.
 */
export class Watchdog {
  /** Milliseconds, as of the last look. */
  now = performance.now()
  /**
   * A list, not a set: what left a set is found from its older tables by the collector until it cleans the whole heap,
   * and with it all that belonged to its request (a third of the CPU of short streams).
   */
  private readonly watched: Watched[] = []
  private readonly every: number
  private timer: NodeJS.Timeout | undefined

  /** `shortest` is the shortest patience there will be, in milliseconds. */
  constructor(shortest: number) {
    this.every = Math.min(SELDOM, Math.max(OFTEN, shortest / 4))
  }

  /** It is heard of now. */
  watch(one: Watched): void {
    one.place = this.watched.push(one) - 1
    if (this.timer === undefined) {
      this.now = performance.now()
      this.timer = setInterval(this.look, this.every)
    }
    one.heard = this.now
  }

  leave(one: Watched): void {
    if (this.watched[one.place] !== one) return
    const last = this.watched.pop()!
    if (last === one) return
    this.watched[one.place] = last
    last.place = one.place
  }

  private readonly look = (): void => {
    this.now = performance.now()
    if (this.watched.length === 0) {
      clearInterval(this.timer)
      this.timer = undefined
    }
    // Backwards: whoever expires leaves, and its place is taken by one that was looked at.
    for (let place = this.watched.length - 1; place >= 0; place--) {
      const one = this.watched[place]
      if (one?.patience !== undefined && this.now - one.heard > one.patience) one.expire()
    }
  }
}
