import { type Json, type JsonObject, put } from './node.ts'

/**
 * Appends every item to the list. `push(...more)` would pass the items on the stack, which overflows at some hundred
 * thousand of them, a number that callers control.
 */
export function append<T>(list: T[], more: Iterable<T>): void {
  for (const one of more) list.push(one)
}

/** Lists and objects made here that grow in place: copying them for each addition would take quadratic time. */
const growing = new WeakSet<object>()

/** The list with more appended: a new one, unless it was made here and is `owned`, with no other reference to it. */
export function longer<T>(before: readonly T[] | undefined, more: readonly T[], owned: boolean): readonly T[] {
  const list = owned && before !== undefined && growing.has(before) ? (before as T[]) : [...(before ?? [])]
  append(list, more)
  if (owned) growing.add(list)
  return list
}

/** As `longer`, for the fields of an object: later ones win. */
export function wider(before: JsonObject | undefined, more: JsonObject, owned: boolean): JsonObject {
  const isOwn = owned && before !== undefined && growing.has(before)
  const fields = isOwn ? (before as { [key: string]: Json }) : { ...before }
  for (const key of Object.keys(more)) put(fields, key, more[key])
  if (owned) growing.add(fields)
  return fields
}

/** Something that can stand in an `UnorderedList`, in one at a time. */
export interface Listed {
  /** Its index in the list, which alone sets it. */
  place?: number
}

/**
 * Items in no order, each added and removed in constant time. For what lives as long as a request: an array, where a
 * `Set` or `Map` replaces its table again and again, and each table refers to the next one. A table that grew old keeps
 * all later ones, and with them every request that was in one, until the next full collection.
 */
export class UnorderedList<T extends Listed> {
  private readonly items: T[] = []

  get size(): number {
    return this.items.length
  }

  add(item: T): void {
    item.place = this.items.push(item) - 1
  }

  has(item: T): boolean {
    return item.place !== undefined && this.items[item.place] === item
  }

  /** Does nothing where the item is not in the list. */
  remove(item: T): void {
    if (!this.has(item)) return
    const last = this.items.pop()!
    if (last === item) return
    this.items[item.place!] = last
    last.place = item.place!
  }

  /** Calls `visit` for every item, which may remove items. */
  forEach(visit: (item: T) => void): void {
    // Backwards: the place of an item that leaves is taken by one that was visited.
    for (let place = this.items.length - 1; place >= 0; place--) {
      const item = this.items[place]
      if (item !== undefined) visit(item)
    }
  }
}
