/** Milliseconds for which a name that was not found counts as absent: another instance may store it late. */
const LASTS = 60_000
/** Names that are remembered; the oldest are forgotten for new ones. */
const MOST = 50_000

/** Names that are not in the store, so that they are not looked up again with every request of a conversation. */
export class AbsentNames {
  private readonly now: () => number
  /** Until when each is known to be absent, in the order they were added. */
  private readonly names = new Map<string, number>()

  constructor(now: () => number) {
    this.now = now
  }

  /** @param isOwn the call was made here, without a thought: nobody else will store any. */
  add(name: string, isOwn: boolean): void {
    this.names.delete(name)
    this.names.set(name, isOwn ? Number.POSITIVE_INFINITY : this.now() + LASTS)
    if (this.names.size > MOST) this.names.delete(this.names.keys().next().value!)
  }

  has(name: string): boolean {
    return (this.names.get(name) ?? 0) > this.now()
  }
}
