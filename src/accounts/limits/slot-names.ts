/** Average number of names in a list above which the lists are doubled, and the largest number of lists. */
const NAMES_PER_LIST = 8
const MAX_LISTS = 1024

/**
 * Names of the slots that a key uses (`OWNER.NUMBER`), in lists by the last digits of the number, so that the time of a
 * change does not depend on the number of slots. A `Set` would keep its old tables in memory (`canonical/lists.ts`).
 */
export class SlotNames {
  private lists: string[][] = [[]]
  private count = 0

  get size(): number {
    return this.count
  }

  has(name: string): boolean {
    return this.listOf(name).includes(name)
  }

  /** Adds a name. Does nothing if the name is there. */
  add(name: string): void {
    const list = this.listOf(name)
    if (list.includes(name)) return
    list.push(name)
    this.count++
    if (this.count > NAMES_PER_LIST * this.lists.length && this.lists.length < MAX_LISTS) this.doubleLists()
  }

  /** Removes a name. Does nothing if the name is not there. */
  remove(name: string): void {
    const list = this.listOf(name)
    const index = list.indexOf(name)
    if (index < 0) return
    const last = list.pop()!
    if (index < list.length) list[index] = last
    this.count--
  }

  /** Removes all names of an owner. */
  removeOwner(owner: string): void {
    for (const name of this.lists.flat()) if (name.startsWith(`${owner}.`)) this.remove(name)
  }

  private listOf(name: string): string[] {
    return this.lists[lastDigitsOf(name) & (this.lists.length - 1)]!
  }

  private doubleLists(): void {
    const names = this.lists.flat()
    this.lists = Array.from({ length: this.lists.length * 2 }, () => [])
    for (const name of names) this.listOf(name).push(name)
  }
}

/** Base in which the number of a slot is written. */
const BASE = 36

/** A number from the last three characters of a name, which consecutive slots do not share. */
function lastDigitsOf(name: string): number {
  const { length } = name
  return name.charCodeAt(length - 1) + BASE * (name.charCodeAt(length - 2) + BASE * name.charCodeAt(length - 3))
}
