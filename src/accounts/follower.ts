import { GatewayError } from '../canonical/error.ts'
import type { AccessChanges, AccessRecords } from '../store/access-records.ts'

export interface FollowerOptions {
  readonly records: AccessRecords
  /** Whether there may be records: a file that was never written is not opened for them. */
  readonly mayHold: () => boolean
  /** Done before each reading until it succeeds. */
  readonly prepare: () => Promise<void>
  readonly apply: (changes: AccessChanges) => void
  /** What went wrong beside a store at fault, which is logged where it is met. */
  readonly onFault: (thrown: unknown) => void
}

/** Follows the changes of stored keys and groups. */
export class Follower {
  /** Everything stored was read once. */
  isRead = false
  /** The latest reading succeeded. */
  isCurrent = false
  private readonly options: FollowerOptions
  private version = 0
  private isPrepared = false
  private reading: Promise<void> | undefined
  private next: Promise<void> | undefined

  constructor(options: FollowerOptions) {
    this.options = options
  }

  /**
   * Reads everything for the first time. A store at fault is read later.
   *
   * @throws what the store cannot recover from, such as a database newer than the program.
   */
  async open(): Promise<void> {
    try {
      await this.read()
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown
    }
  }

  /** Reads what changed, all that did before this was called. Never rejects. */
  refresh(): Promise<void> {
    if (this.reading === undefined) return this.begin()
    // What is read now may have missed it.
    this.next ??= this.reading.then(() => {
      this.next = undefined
      return this.begin()
    })
    return this.next
  }

  private begin(): Promise<void> {
    this.reading = this.read()
      .catch(thrown => {
        if (!(thrown instanceof GatewayError)) this.options.onFault(thrown)
      })
      .finally(() => (this.reading = undefined))
    return this.reading
  }

  private async read(): Promise<void> {
    const { prepare, mayHold, records, apply } = this.options
    this.isCurrent = false
    if (!this.isPrepared) await prepare()
    this.isPrepared = true
    if (!mayHold()) {
      this.isCurrent = true
      return
    }
    const changes = await records.changes(this.version)
    this.isCurrent = true
    const isNews = changes.version !== this.version || changes.whole === true
    this.version = changes.version
    this.isRead = true
    if (isNews) apply(changes)
  }
}
