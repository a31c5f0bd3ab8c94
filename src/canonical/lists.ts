import { type Json, type JsonObject, put } from './node.ts'

/**
 * Appends every item to the list. `list.push(...more)` would pass the items on the stack, which overflows at a few
 * hundred thousand items, and the gateway's callers control how many there are.
 */
export function append<T>(list: T[], more: Iterable<T>): void {
  for (const item of more) list.push(item)
}

/**
 * Lists and objects that this module created and may append to in place. Copying them for each addition would take
 * quadratic time.
 */
const growingValues = new WeakSet<object>()

/**
 * Appends to a list and returns the result. Mutates the list if this module created it and nothing else refers to it
 * (`isOwned`); otherwise returns a copy.
 */
export function appendedTo<T>(before: readonly T[] | undefined, more: readonly T[], isOwned: boolean): readonly T[] {
  const list = isOwned && before !== undefined && growingValues.has(before) ? (before as T[]) : [...(before ?? [])]
  append(list, more)
  if (isOwned) growingValues.add(list)
  return list
}

/**
 * Adds fields to an object and returns the result. Later fields replace earlier ones of the same name. Mutates the
 * object if this module created it and nothing else refers to it (`isOwned`). Otherwise returns a copy.
 */
export function withFieldsAdded(before: JsonObject | undefined, more: JsonObject, isOwned: boolean): JsonObject {
  const mayMutate = isOwned && before !== undefined && growingValues.has(before)
  const fields = mayMutate ? (before as { [key: string]: Json }) : { ...before }
  for (const key of Object.keys(more)) put(fields, key, more[key])
  if (isOwned) growingValues.add(fields)
  return fields
}

/** An item of an `UnorderedList`. An item can be in only one list at a time. */
export interface ListItem {
  /** Index of the item. Set only by the list. */
  index?: number
}

/**
 * A collection of items that live as long as a request, in no particular order, with insertion and removal in constant
 * time. A `Set` or `Map` would keep them in memory longer: it replaces its table repeatedly, and each old table refers
 * to the next one. A table in the heap's old generation therefore keeps every later table alive, with all its requests,
 * until the next full garbage collection.
 */
export class UnorderedList<T extends ListItem> {
  private readonly items: T[] = []

  get size(): number {
    return this.items.length
  }

  add(item: T): void {
    item.index = this.items.push(item) - 1
  }

  has(item: T): boolean {
    return item.index !== undefined && this.items[item.index] === item
  }

  /** Removes an item. Does nothing if the item is not in the list. */
  remove(item: T): void {
    if (!this.has(item)) return
    const last = this.items.pop()!
    if (last === item) return
    this.items[item.index!] = last
    last.index = item.index!
  }

  /** Calls `visit` for every item. `visit` may remove items. */
  forEach(visit: (item: T) => void): void {
    // Iterates backwards, because `remove` fills the gap with the last item, which was already visited.
    for (let index = this.items.length - 1; index >= 0; index--) {
      const item = this.items[index]
      if (item !== undefined) visit(item)
    }
  }
}
