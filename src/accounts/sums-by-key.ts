/** Sums by key, with their total. A key whose sum is zero takes no memory. */
export class SumsByKey {
  private readonly sums = new Map<string, number>()
  private sumOfAll = 0

  get total(): number {
    return this.sumOfAll
  }

  of(key: string): number {
    return this.sums.get(key) ?? 0
  }

  /** Adds an amount, which may be negative, to the sum of a key. Returns the new sum. */
  add(key: string, amount: number): number {
    this.sumOfAll += amount
    const sum = this.of(key) + amount
    if (sum === 0) this.sums.delete(key)
    else this.sums.set(key, sum)
    return sum
  }
}
