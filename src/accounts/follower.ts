import { GatewayError } from '../canonical/error.ts'
import type { AccessChanges, AccessRecords } from '../store/access-records.ts'

/** Options of the follower: how it reads changes, and where it delivers them. */
export interface FollowerOptions {
  readonly records: AccessRecords
  /** Returns true if the store may hold keys. If false, the follower does not open a missing SQLite file. */
  readonly mayHaveKeys: () => boolean
  /** Runs before every read, until it has succeeded once. */
  readonly prepare: () => Promise<void>
  readonly apply: (changes: AccessChanges) => void
  /** Receives errors other than store outages, which the store logs itself. */
  readonly onFault: (thrown: unknown) => void
}

/** Follows changes of the stored keys and groups. */
export class Follower {
  /** True once the complete state has been read. */
  isRead = false
  /** True if the latest read succeeded. */
  isCurrent = false
  private readonly options: FollowerOptions
  private version = 0
  private isPrepared = false
  private reading: Promise<void> | undefined
  private nextRead: Promise<void> | undefined

  constructor(options: FollowerOptions) {
    this.options = options
  }

  /**
   * Reads the complete state for the first time. If the store is unavailable, a later refresh reads it.
   *
   * @throws errors that no retry can fix, such as a store migrated by a newer version.
   */
  async open(): Promise<void> {
    try {
      await this.read()
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown
    }
  }

  /** Reads all changes made before this call. Never rejects. */
  refresh(): Promise<void> {
    if (this.reading === undefined) return this.begin()
    // The read in progress may have missed the latest change, so read once more, unless a later read has started.
    this.nextRead ??= this.reading.then(() => {
      this.nextRead = undefined
      return this.reading ?? this.begin()
    })
    return this.nextRead
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
    const { prepare, mayHaveKeys, records, apply } = this.options
    this.isCurrent = false
    if (!this.isPrepared) await prepare()
    this.isPrepared = true
    if (!mayHaveKeys()) {
      this.isCurrent = true
      return
    }
    const changes = await records.changes(this.version)
    this.isCurrent = true
    const hasChanges = changes.version !== this.version || changes.whole === true
    this.version = changes.version
    this.isRead = true
    if (hasChanges) apply(changes)
  }
}
