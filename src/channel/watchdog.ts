import { type Listed, UnorderedList } from '../canonical/unordered-list.ts'

/** Something that must not be silent for too long. */
export interface Watched extends Listed {
  /** How long it may be silent, in milliseconds; undefined is as long as it likes. */
  readonly patience: number | undefined
  /** The watchdog's time when it was last heard of. */
  heard: number
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
  private readonly watched = new UnorderedList<Watched>()
  private readonly every: number
  private timer: NodeJS.Timeout | undefined

  /** `shortest` is the shortest patience there will be, in milliseconds. */
  constructor(shortest: number) {
    this.every = Math.min(SELDOM, Math.max(OFTEN, shortest / 4))
  }

  /** It is heard of now. */
  watch(one: Watched): void {
    this.watched.add(one)
    if (this.timer === undefined) {
      this.now = performance.now()
      this.timer = setInterval(this.look, this.every)
    }
    one.heard = this.now
  }

  leave(one: Watched): void {
    this.watched.remove(one)
  }

  private readonly look = (): void => {
    this.now = performance.now()
    if (this.watched.size === 0) {
      clearInterval(this.timer)
      this.timer = undefined
    }
    this.watched.forEach(one => {
      if (one.patience !== undefined && this.now - one.heard > one.patience) one.expire()
    })
  }
}
