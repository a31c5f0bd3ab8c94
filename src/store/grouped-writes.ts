/** Writes of one group: more of them would keep other work of the process waiting. */
const MOST = 50
/** Characters of one group; a larger write is a group of its own. */
const LARGEST = 1_000_000

export interface GroupedWritesOptions<T> {
  /** Writes all of them, or none, in one transaction. */
  write(all: readonly T[]): Promise<void>
  /** Characters of a write. */
  sizeOf(one: T): number
  /** What is written: no group has two writes of the same. */
  keyOf(one: T): string
  /** Whether what was thrown has nothing to do with what was written. */
  isFault(thrown: unknown): boolean
}

interface Waiting<T> {
  readonly one: T
  resolve(): void
  reject(thrown: unknown): void
}

/**
 * Joins writes that come about at the same time into one transaction, one after the other: a transaction costs several
 * times its rows.
 */
export class GroupedWrites<T> {
  private readonly options: GroupedWritesOptions<T>
  private waiting: Waiting<T>[] = []
  /** A group is written, or will be soon. */
  private busy = false
  /** Set once the writes are to end. */
  private ending: PromiseWithResolvers<void> | undefined

  constructor(options: GroupedWritesOptions<T>) {
    this.options = options
  }

  /** Settles with the transaction that has the write; one that cannot be written fails no other. */
  add(one: T): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ one, resolve, reject })
      if (!this.busy) this.schedule()
    })
  }

  /** Settles once nothing waits any more. A fault from now on fails all that waits, which would meet it as well. */
  close(): Promise<void> {
    this.ending ??= Promise.withResolvers()
    if (!this.busy) this.ending.resolve()
    return this.ending.promise
  }

  /** What comes in the same turn of the event loop is one group. */
  private schedule(): void {
    this.busy = this.waiting.length > 0
    if (this.busy) setImmediate(this.begin)
    else this.ending?.resolve()
  }

  private readonly begin = (): void => void this.write(this.next()).then(() => this.schedule())

  private next(): readonly Waiting<T>[] {
    const { sizeOf, keyOf } = this.options
    const keys = new Set<string>()
    let size = 0
    let count = 0
    for (const { one } of this.waiting) {
      size += sizeOf(one)
      if (count > 0 && (count === MOST || size > LARGEST || keys.has(keyOf(one)))) break
      keys.add(keyOf(one))
      count++
    }
    return this.waiting.splice(0, count)
  }

  /** Never rejects. */
  private async write(group: readonly Waiting<T>[]): Promise<void> {
    try {
      await this.options.write(group.map(({ one }) => one))
      for (const { resolve } of group) resolve()
    } catch (thrown) {
      const isFault = this.options.isFault(thrown)
      if (isFault && this.ending !== undefined) for (const { reject } of this.waiting.splice(0)) reject(thrown)
      if (isFault || group.length === 1) for (const { reject } of group) reject(thrown)
      else for (const one of group) await this.write([one])
    }
  }
}
