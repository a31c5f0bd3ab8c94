/** Maximum number of writes per group, so that a group does not block the process for long. */
const MAX_WRITES = 50
/** Maximum size of a group, in characters. A larger write forms its own group. */
const MAX_SIZE = 1_000_000

/** Functions that write, measure and identify items. */
export interface GroupedWritesOptions<T, R> {
  /** Writes all items in one transaction, or none. Resolves to the result of each item, in order. */
  write(items: readonly T[]): Promise<readonly R[]>
  /** Number of characters of an item. */
  sizeOf(item: T): number
  /** Identity of an item. Two writes of the same item go into different groups. */
  keyOf(item: T): string
  /** Returns true if the error is a fault of the store rather than of an item. */
  isFault(thrown: unknown): boolean
}

interface PendingWrite<T, R> {
  readonly item: T
  resolve(result: R): void
  reject(thrown: unknown): void
}

/**
 * Groups concurrent writes into one transaction at a time, because a transaction costs several times as much as its
 * rows.
 */
export class GroupedWrites<T, R> {
  private readonly options: GroupedWritesOptions<T, R>
  private pendingWrites: PendingWrite<T, R>[] = []
  /** True while a group is being written or scheduled. */
  private busy = false
  /** Resolved when the last write is done. Set by `close`. */
  private ending: PromiseWithResolvers<void> | undefined

  constructor(options: GroupedWritesOptions<T, R>) {
    this.options = options
  }

  /**
   * Writes an item. Settles with the item's result when the transaction that contains it ends. If an item cannot be
   * written, the others of its group are retried one by one.
   */
  add(item: T): Promise<R> {
    return new Promise((resolve, reject) => {
      this.pendingWrites.push({ item, resolve, reject })
      if (!this.busy) this.schedule()
    })
  }

  /**
   * Settles when no write is waiting. From this call on, a fault of the store rejects all waiting writes, because they
   * would fail in the same way.
   */
  close(): Promise<void> {
    this.ending ??= Promise.withResolvers()
    if (!this.busy) this.ending.resolve()
    return this.ending.promise
  }

  /** Starts the next group with all writes of the current turn of the event loop. */
  private schedule(): void {
    this.busy = this.pendingWrites.length > 0
    if (this.busy) setImmediate(this.begin)
    else this.ending?.resolve()
  }

  private readonly begin = (): void => void this.write(this.next()).then(() => this.schedule())

  private next(): readonly PendingWrite<T, R>[] {
    const { sizeOf, keyOf } = this.options
    const keys = new Set<string>()
    let size = 0
    let count = 0
    for (const { item } of this.pendingWrites) {
      size += sizeOf(item)
      if (count > 0 && (count === MAX_WRITES || size > MAX_SIZE || keys.has(keyOf(item)))) break
      keys.add(keyOf(item))
      count++
    }
    return this.pendingWrites.splice(0, count)
  }

  /** Writes one group and settles its items. Never rejects. */
  private async write(group: readonly PendingWrite<T, R>[]): Promise<void> {
    try {
      const results = await this.options.write(group.map(({ item }) => item))
      for (const [index, { resolve }] of group.entries()) resolve(results[index]!)
    } catch (thrown) {
      const isFault = this.options.isFault(thrown)
      if (isFault && this.ending !== undefined) for (const { reject } of this.pendingWrites.splice(0)) reject(thrown)
      if (isFault || group.length === 1) for (const { reject } of group) reject(thrown)
      else for (const item of group) await this.write([item])
    }
  }
}
