import type { Json, JsonObject } from '../../canonical/node.ts'
import { anyNumber, anyObject, anyText } from '../fields.ts'

/**
 * Maps events to items of the output by `output_index`. If the index is missing or the same for all items, the item's
 * id is used, although some upstreams change it during the stream (trap 69). Positions number items in the order in
 * which they start, so gaps between indexes do not matter.
 */
export class ItemPositions {
  private readonly byId = new Map<string, number>()
  private readonly byIndex = new Map<number, number>()
  /** Indexes that several items share. */
  private readonly sharedPositions = new Set<number>()
  /** Types of the items, as far as events have stated them. */
  private readonly types = new Map<number, Json>()
  private count = 0

  /** Returns the position of the item that an event continues, or undefined for an unknown item. */
  find(event: JsonObject): number | undefined {
    const id = idIn(event)
    const index = anyNumber(event['output_index'])
    const atIndex = index === undefined ? undefined : this.byIndex.get(index)
    if (atIndex !== undefined && !this.sharedPositions.has(index!)) return atIndex
    const known = id === undefined ? undefined : this.byId.get(id)
    if (known !== undefined || index !== undefined) return known ?? atIndex
    return id === undefined && this.count > 0 ? this.count - 1 : undefined
  }

  /**
   * Returns the position of the item that an event starts or repeats. If that item has `ended`, an event with another
   * id or index, or without both, starts another item. An `added` event with another id, or without id and index, always
   * starts another item, and so does an event with an item of another type.
   */
  findOrAdd(event: JsonObject, ended: ReadonlySet<number>): number {
    const known = this.find(event)
    const nameless = isNameless(event)
    if (known === undefined || (nameless && event['type'] === ADDED)) return this.add(event)
    if (this.isOfOtherType(known, anyObject(event['item']))) return this.add(event)
    const id = idIn(event)
    const index = anyNumber(event['output_index'])
    const hasNewId = id !== undefined && !this.byId.has(id)
    const isNew = nameless || hasNewId || (index !== undefined && !this.byIndex.has(index))
    return (ended.has(known) && isNew) || (hasNewId && event['type'] === ADDED) ? this.add(event) : known
  }

  /** Adds an item and returns its position. */
  add(event: JsonObject): number {
    const position = this.count++
    const id = idIn(event)
    const index = anyNumber(event['output_index'])
    if (id !== undefined) this.byId.set(id, position)
    if (index !== undefined && this.byIndex.has(index)) this.sharedPositions.add(index)
    if (index !== undefined) this.byIndex.set(index, position)
    return position
  }

  /** Sets the type of the item that is opened at a position. */
  setType(position: number, type: Json | undefined): void {
    if (type !== undefined) this.types.set(position, familyOf(type))
  }

  /** Returns true if an item cannot be the one at a position, because that one has another type. */
  isOfOtherType(position: number, item: JsonObject | undefined): boolean {
    const type = item?.['type']
    const known = this.types.get(position)
    return type !== undefined && known !== undefined && known !== familyOf(type)
  }

  /** Returns the positions of all items of a complete output, or undefined for items that no event started. */
  findAll(items: readonly JsonObject[]): readonly (number | undefined)[] {
    const indices = [...this.byIndex.keys()].sort((a, b) => a - b)
    // Indexes are positions in the output, unless there are gaps or all indexes are the same.
    const hasGaps = indices.length > 0 && indices.at(-1)! >= items.length
    const inOrder = indices.length === 0 || this.sharedPositions.size > 0
    return items.map((item, position) => {
      const atIndex = hasGaps ? this.byIndex.get(indices[position]!) : this.byIndex.get(position)
      if (!hasGaps && !inOrder && atIndex !== undefined) return atIndex
      const id = idIn({ item })
      const known = id === undefined ? undefined : this.byId.get(id)
      return known ?? (inOrder ? (position < this.count ? position : undefined) : atIndex)
    })
  }
}

const ADDED = 'response.output_item.added'

/** Returns true if an event has neither the id nor the index of its item. */
export const isNameless = (event: JsonObject): boolean =>
  itemIdIn(event) === undefined && anyNumber(event['output_index']) === undefined

/**
 * Returns the name of an event's item: its id, or else the `call_id` of a call. Calls of llama.cpp have no other id, and
 * their deltas state it as the item's.
 */
const idIn = (event: JsonObject): string | undefined => itemIdIn(event) ?? callIdIn(anyObject(event['item']))

/** Returns the id of an event's item. vLLM puts it into a field `item_id` of the final call. */
function itemIdIn(event: JsonObject): string | undefined {
  const item = anyObject(event['item'])
  return anyText(event['item_id']) || anyText(item?.['id']) || anyText(item?.['item_id']) || undefined
}

const callIdIn = (item: JsonObject | undefined): string | undefined =>
  CALLS.has(item?.['type']) ? anyText(item!['call_id']) || undefined : undefined

/** Types of items that are calls of the caller's tools. */
const CALLS: ReadonlySet<Json | undefined> = new Set(['function_call', 'custom_tool_call'])

/** Returns the type of an item, with one name for all calls of the caller's tools. */
const familyOf = (type: Json): Json => (CALLS.has(type) ? 'call' : type)
