import { random } from '../builders/random.ts'

/** Draws random values that depend on a seed alone. */
export class Dice {
  private readonly next: () => number

  constructor(seed: number) {
    this.next = random(seed)
  }

  /** Returns an integer from zero to below `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end)
  }

  /** Returns true once in `times` calls on average. */
  oneIn(times: number): boolean {
    return this.below(times) === 0
  }

  one<T>(of: readonly T[]): T {
    return of[this.below(of.length)]!
  }

  /** Returns a length that is mostly small: each doubling is less likely than the one before. */
  length(): number {
    let length = 1
    while (length < 2 ** 12 && !this.oneIn(3)) length *= 2
    return length + this.below(length)
  }
}
