import { putNewest } from '../../canonical/bounded-map.ts'

/** Time for which a missing name counts as absent, in milliseconds. Another instance may still store it. */
const LASTS = 60_000
/** Maximum number of absent names that are remembered. The oldest are forgotten. */
const MOST = 50_000

/**
 * Remembers names that the store does not have, so that they are not looked up with every request of a conversation.
 */
export class AbsentNames {
  private readonly now: () => number
  /** Expiry times of the entries, oldest first. */
  private readonly names = new Map<string, number>()

  constructor(now: () => number) {
    this.now = now
  }

  /** @param isLocal whether the call was made here and without reasoning, so that no instance will store any. */
  add(name: string, isLocal: boolean): void {
    putNewest(this.names, name, isLocal ? Number.POSITIVE_INFINITY : this.now() + LASTS, MOST)
  }

  has(name: string): boolean {
    return (this.names.get(name) ?? 0) > this.now()
  }
}
