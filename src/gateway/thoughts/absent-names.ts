import { putNewest } from '../../canonical/bounded-map.ts'

/** Time for which a missing name counts as absent, in milliseconds. Another instance may store it later. */
const LIFETIME = 60_000
/** Maximum number of absent names that are remembered. The oldest are forgotten first. */
const MAX_NAMES = 50_000

/**
 * Remembers names that the store does not have, so that they are not looked up for every request of a conversation.
 */
export class AbsentNames {
  private readonly now: () => number
  /** Expiry times of the entries, oldest first. */
  private readonly names = new Map<string, number>()

  constructor(now: () => number) {
    this.now = now
  }

  /** @param isLocal whether the call was made here without reasoning, so that no instance will ever store any. */
  add(name: string, isLocal: boolean): void {
    putNewest(this.names, name, isLocal ? Number.POSITIVE_INFINITY : this.now() + LIFETIME, MAX_NAMES)
  }

  has(name: string): boolean {
    const remaining = (this.names.get(name) ?? 0) - this.now()
    // A longer time means that the clock was set back.
    return remaining > 0 && (remaining <= LIFETIME || remaining === Number.POSITIVE_INFINITY)
  }
}
