import type { JsonObject } from '../../canonical/node.ts'
import { anyNumber, anyObject, anyText } from '../fields.ts'

/**
 * Which item of the output an event is of: the one at its `output_index`, or where there is none, or one for all, the one
 * of its id, which some upstreams change on the way (trap 69). Places count the items in the order they were told of, so
 * that gaps between indices do not matter.
 */
export class Places {
  private readonly byId = new Map<string, number>()
  private readonly byIndex = new Map<number, number>()
  /** Indices that several items were told under. */
  private readonly shared = new Set<number>()
  private count = 0

  /** The item an event goes on with; undefined where it is of none that is known. */
  of(event: JsonObject): number | undefined {
    const id = idIn(event)
    const index = anyNumber(event['output_index'])
    const there = index === undefined ? undefined : this.byIndex.get(index)
    if (there !== undefined && !this.shared.has(index!)) return there
    const known = id === undefined ? undefined : this.byId.get(id)
    if (known !== undefined || index !== undefined) return known ?? there
    return id === undefined && this.count > 0 ? this.count - 1 : undefined
  }

  /**
   * The item that an event begins, or tells once more; where that one is `over`, what has another name, or none, is
   * another, and so is whatever is added without a name.
   */
  at(event: JsonObject, over: ReadonlySet<number>): number {
    const known = this.of(event)
    const nameless = isNameless(event)
    if (known === undefined || (nameless && event['type'] === ADDED)) return this.add(event)
    const id = idIn(event)
    const index = anyNumber(event['output_index'])
    const isNew =
      nameless || (id !== undefined && !this.byId.has(id)) || (index !== undefined && !this.byIndex.has(index))
    return over.has(known) && isNew ? this.add(event) : known
  }

  add(event: JsonObject): number {
    const place = this.count++
    const id = idIn(event)
    const index = anyNumber(event['output_index'])
    if (id !== undefined) this.byId.set(id, place)
    if (index !== undefined && this.byIndex.has(index)) this.shared.add(index)
    if (index !== undefined) this.byIndex.set(index, place)
    return place
  }

  /** Where the items of a whole output were told, each undefined that was not. */
  ofAll(items: readonly JsonObject[]): readonly (number | undefined)[] {
    const indices = [...this.byIndex.keys()].sort((a, b) => a - b)
    // Indices are positions in the output, unless they have gaps or are one for all.
    const hasGaps = indices.length > 0 && indices.at(-1)! >= items.length
    const inOrder = indices.length === 0 || this.shared.size > 0
    return items.map(({ id }, position) => {
      const there = hasGaps ? this.byIndex.get(indices[position]!) : this.byIndex.get(position)
      if (!hasGaps && !inOrder && there !== undefined) return there
      const known = typeof id === 'string' && id !== '' ? this.byId.get(id) : undefined
      return known ?? (inOrder ? (position < this.count ? position : undefined) : there)
    })
  }
}

const ADDED = 'response.output_item.added'

/** The event says neither which item it is of nor where that is. */
export const isNameless = (event: JsonObject): boolean =>
  idIn(event) === undefined && anyNumber(event['output_index']) === undefined

function idIn(event: JsonObject): string | undefined {
  const id = anyText(event['item_id']) ?? anyText(anyObject(event['item'])?.['id'])
  return id === '' ? undefined : id
}
