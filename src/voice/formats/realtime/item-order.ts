import type { Position } from '../../../canonical/voice-session-event.ts'

/** Maximum number of items whose order is known. Beyond it, the first ones are dropped. */
const MAX_ITEMS = 1000

/** The order of a conversation's items, as events announce them. */
export class ItemOrder {
  private readonly ids: string[] = []

  /** Adds an item after the given one, or at the end if its place is not stated. Returns the id of the item before it. */
  add(id: string, after: Position = this.ids.at(-1) ?? null): Position {
    const before = after === null ? -1 : this.ids.lastIndexOf(after)
    this.ids.splice(after !== null && before === -1 ? this.ids.length : before + 1, 0, id)
    if (this.ids.length > MAX_ITEMS) this.ids.shift()
    return after
  }

  /** Returns the id of the item before a known one. */
  before(id: string): Position {
    return this.ids[this.ids.lastIndexOf(id) - 1] ?? null
  }

  delete(id: string): void {
    const index = this.ids.lastIndexOf(id)
    if (index !== -1) this.ids.splice(index, 1)
  }
}
