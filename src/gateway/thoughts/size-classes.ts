/** 2^53 is the largest size there can be. */
const CLASSES = 54

const classOf = (size: number): number => Math.floor(Math.log2(size))

/**
 * Who holds most, or half of that at least: sizes that share their power of two count as alike, so that nothing need be
 * sorted.
 */
export class SizeClasses<T> {
  private readonly classes: readonly Set<T>[] = Array.from({ length: CLASSES }, () => new Set<T>())

  /** One whose size changed; entries of size 0 are not held. */
  move(one: T, from: number, to: number): void {
    const [before, after] = [from, to].map(size => (size === 0 ? undefined : this.classes[classOf(size)]))
    if (before === after) return
    before?.delete(one)
    after?.add(one)
  }

  largest(): T | undefined {
    const held = this.classes.findLast(({ size }) => size > 0)
    return held?.values().next().value
  }
}
