import { type CanonicalError, type GatewayError, invalid } from '../canonical/error.ts'
import type { Item } from '../canonical/session.ts'
import type { Position, ServerEvent } from '../canonical/session-event.ts'
import { excerpt } from '../canonical/text.ts'

export type KnownItem = Item & { readonly id: string }

/** Most items of one conversation; upstream limits are far lower. */
const MOST = 10_000

/**
 * The items of a session in order, for upstreams that do not store items by id. Each client operation returns the
 * events that acknowledge it, or one `error` event if it fails.
 */
export class Conversation {
  private readonly order: string[] = []
  private readonly byId = new Map<string, KnownItem>()
  private readonly newId: (prefix: string) => string

  constructor(newId: (prefix: string) => string) {
    this.newId = newId
  }

  get items(): readonly KnownItem[] {
    return this.order.map(id => this.byId.get(id)!)
  }

  get(id: string): KnownItem | undefined {
    return this.byId.get(id)
  }

  /** The id of the last item; null if the conversation is empty. */
  get last(): Position {
    return this.order.at(-1) ?? null
  }

  /** Adds a client's item and returns `item-added` and `item-done`. `event` is the client event's id. */
  create(item: Item, after: Position | undefined, event: string | undefined): ServerEvent[] {
    try {
      const { known, previous } = this.insert({ status: 'completed', ...item }, after)
      return [
        { type: 'item-added', item: known, after: previous },
        { type: 'item-done', item: known, after: previous },
      ]
    } catch (thrown) {
      return [failed((thrown as GatewayError).error, event)]
    }
  }

  /**
   * Adds an item without an event, after the given position or at the end.
   *
   * @throws GatewayError `invalid-request` for an unknown position, an existing id, or too many items.
   */
  insert(item: Item, after?: Position): { readonly known: KnownItem; readonly previous: Position } {
    const known: KnownItem = { ...item, id: item.id ?? this.newId('item') }
    if (this.byId.has(known.id)) throw invalid(`The item "${excerpt(known.id)}" already exists.`, 'item.id')
    if (this.order.length >= MOST) throw invalid('The conversation has too many items.', 'item')
    const place = after === undefined ? this.order.length : after === null ? 0 : this.order.lastIndexOf(after) + 1
    if (place === 0 && typeof after === 'string')
      throw invalid(`There is no item "${excerpt(after)}".`, 'previous_item_id')
    this.order.splice(place, 0, known.id)
    this.byId.set(known.id, known)
    return { known, previous: this.order[place - 1] ?? null }
  }

  /** Replaces the item with the same id; does nothing if the item was deleted. */
  replace(item: KnownItem): void {
    if (this.byId.has(item.id)) this.byId.set(item.id, item)
  }

  retrieve(id: string, event: string | undefined): ServerEvent[] {
    const item = this.byId.get(id)
    return item === undefined ? [missing(id, event)] : [{ type: 'item-retrieved', item }]
  }

  delete(id: string, event: string | undefined): ServerEvent[] {
    if (!this.byId.delete(id)) return [missing(id, event)]
    this.order.splice(this.order.indexOf(id), 1)
    return [{ type: 'item-deleted', item: id }]
  }
}

/** An `error` event; the session continues. */
export const failed = (error: CanonicalError, event: string | undefined): ServerEvent => ({
  type: 'error',
  error,
  ...(event === undefined ? {} : { event }),
})

const missing = (id: string, event: string | undefined): ServerEvent =>
  failed(invalid(`There is no item "${excerpt(id)}".`, 'item_id').error, event)
