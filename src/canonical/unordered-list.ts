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
