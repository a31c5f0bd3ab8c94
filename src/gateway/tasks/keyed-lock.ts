/** Admits one holder at a time for each name, in the order in which they came. */
export class KeyedLock {
  /** Settles when the last one that came for a name has released it. */
  private readonly last = new Map<string, Promise<void>>()

  /** Waits for the name; the result releases it. */
  async take(name: string): Promise<() => void> {
    const before = this.last.get(name)
    const { promise, resolve } = Promise.withResolvers<void>()
    this.last.set(name, promise)
    await before
    return () => {
      if (this.last.get(name) === promise) this.last.delete(name)
      resolve()
    }
  }
}
