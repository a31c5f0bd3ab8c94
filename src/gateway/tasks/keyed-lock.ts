/** A lock per name. Waiters are admitted in order of arrival. */
export class KeyedLock {
  /** By name, a promise that resolves when the latest waiter has released the lock. */
  private readonly last = new Map<string, Promise<void>>()

  /** Waits for the lock of a name. Returns the function that releases it. */
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
