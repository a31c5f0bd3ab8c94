import { type CanonicalError, type GatewayError, invalid } from '../canonical/error.ts'
import { excerpt } from '../canonical/text.ts'
import type { ConversationItem } from '../canonical/voice-session.ts'
import type { Position, ServerEvent } from '../canonical/voice-session-event.ts'

export type IdentifiedItem = ConversationItem & { readonly id: string }

/** Maximum number of items in a conversation. The limits of upstreams are far lower. */
const MAX_ITEMS = 10_000

/**
 * Ordered items of a session, for upstreams that do not store items by id. Each client operation returns the events
 * that acknowledge it, or one `error` event if it fails.
 */
export class Conversation {
  private readonly order: string[] = []
  private readonly byId = new Map<string, IdentifiedItem>()
  private readonly newId: (prefix: string) => string

  constructor(newId: (prefix: string) => string) {
    this.newId = newId
  }

  get items(): readonly IdentifiedItem[] {
    return this.order.map(id => this.byId.get(id)!)
  }

  get(id: string): IdentifiedItem | undefined {
    return this.byId.get(id)
  }

  /** Id of the last item, or null if the conversation is empty. */
  get last(): Position {
    return this.order.at(-1) ?? null
  }

  /** Adds a client's item. Returns `item-added` and `item-done`. `event` is the client event's id. */
  create(item: ConversationItem, after: Position | undefined, event: string | undefined): ServerEvent[] {
    try {
      const { added, previous } = this.insert({ status: 'completed', ...item }, after)
      return [
        { type: 'item-added', item: added, after: previous },
        { type: 'item-done', item: added, after: previous },
      ]
    } catch (thrown) {
      return [errorEvent((thrown as GatewayError).error, event)]
    }
  }

  /**
   * Inserts an item after the given position or at the end, without an event.
   *
   * @throws GatewayError `invalid-request` if the position is unknown, the id exists or there are too many items.
   */
  insert(item: ConversationItem, after?: Position): { readonly added: IdentifiedItem; readonly previous: Position } {
    const added: IdentifiedItem = { ...item, id: item.id ?? this.newId('item') }
    if (this.byId.has(added.id)) throw invalid(`The item "${excerpt(added.id)}" already exists.`, 'item.id')
    if (this.order.length >= MAX_ITEMS) throw invalid('The conversation has too many items.', 'item')
    const index = after === undefined ? this.order.length : after === null ? 0 : this.order.lastIndexOf(after) + 1
    if (index === 0 && typeof after === 'string')
      throw invalid(`There is no item "${excerpt(after)}".`, 'previous_item_id')
    this.order.splice(index, 0, added.id)
    this.byId.set(added.id, added)
    return { added, previous: this.order[index - 1] ?? null }
  }

  /** Replaces the item with the same id. Does nothing if the item was deleted. */
  replace(item: IdentifiedItem): void {
    if (this.byId.has(item.id)) this.byId.set(item.id, item)
  }

  retrieve(id: string, event: string | undefined): ServerEvent[] {
    const item = this.byId.get(id)
    return item === undefined ? [itemNotFound(id, event)] : [{ type: 'item-retrieved', item }]
  }

  delete(id: string, event: string | undefined): ServerEvent[] {
    if (!this.byId.delete(id)) return [itemNotFound(id, event)]
    this.order.splice(this.order.indexOf(id), 1)
    return [{ type: 'item-deleted', item: id }]
  }
}

/**
 * Returns the size of an item in characters, with its ids, names and unknown fields, all of which may be as long as a
 * message.
 */
export const sizeOf = (item: ConversationItem): number => JSON.stringify(item).length

/** Error for an item whose content exceeds the limit of a conversation. */
export const CONVERSATION_TOO_LARGE: CanonicalError = {
  kind: 'invalid-request',
  code: 'conversation_too_large',
  param: 'item',
  message: 'The conversation has too much content: delete items first.',
}

/** Creates an `error` event. The session continues. */
export const errorEvent = (error: CanonicalError, event: string | undefined): ServerEvent => ({
  type: 'error',
  error,
  ...(event === undefined ? {} : { event }),
})

const itemNotFound = (id: string, event: string | undefined): ServerEvent =>
  errorEvent(invalid(`There is no item "${excerpt(id)}".`, 'item_id').error, event)
