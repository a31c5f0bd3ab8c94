import type { ReasoningMemoryConfig } from '../../config/index.ts'
import { isPositionKey } from './call-keys.ts'
import { type Link, LinkedList } from './linked-list.ts'
import type { AnswerReasoning, CallKeys, KnownCall } from './types.ts'

/** The reasoning of one answer, with its links in two lists that are ordered by last use. */
interface Entry {
  readonly owner: Owner
  readonly keys: Set<string>
  readonly size: number
  usedAt: number
  globalLink: Link<Entry>
  ownerLink: Link<Entry>
}

interface Owner {
  readonly name: string
  readonly byKey: Map<string, KnownCall & { readonly entry: Entry }>
  readonly entries: LinkedList<Entry>
  /** Number of keys by position. */
  positionKeys: number
  size: number
}

/** Overhead of an entry, in bytes: list links and map entries. */
const ENTRY_OVERHEAD = 512

/** Maximum delay that Node's timers accept, in milliseconds. */
const MAX_TIMER_DELAY = 2 ** 31 - 1

/**
 * Stores reasoning in this process's memory, by owner and by the keys of tool calls. Entries that are not used for some
 * time expire. Beyond the memory limit, evicts the least recently used entry of the owner with the most memory
 * (`SizeClasses`), so that one owner cannot displace another's few entries. Every operation takes constant time. One
 * timer serves all entries.
 */
export class MemoryStore {
  private limits: ReasoningMemoryConfig
  private readonly now: () => number
  private readonly owners = new Map<string, Owner>()
  /** All entries, least recently used first. */
  private readonly all = new LinkedList<Entry>()
  private readonly classes = new SizeClasses<Owner>()
  private timer: NodeJS.Timeout | undefined
  private totalSize = 0

  constructor(limits: ReasoningMemoryConfig, now: () => number = Date.now) {
    this.limits = limits
    this.now = now
  }

  /** Estimated size of all entries, in bytes. */
  get size(): number {
    return this.totalSize
  }

  /** Returns true if the owner has any entry. Most owners have none, and need no further search. */
  holds(owner: string): boolean {
    return this.owners.has(owner)
  }

  /** Returns true if the owner has any key by position. */
  holdsPositionKeys(owner: string): boolean {
    return (this.owners.get(owner)?.positionKeys ?? 0) > 0
  }

  /** Returns true if a key is present. Does not count as use of its entry. */
  has(owner: string, key: string): boolean {
    return this.owners.get(owner)?.byKey.has(key) === true
  }

  /** Looks up a key. Counts as use, which extends the life of its entry. */
  find(owner: string, key: string): KnownCall | undefined {
    this.expire()
    const found = this.owners.get(owner)?.byKey.get(key)
    if (found !== undefined) this.markUsed(found.entry)
    return found
  }

  /**
   * Stores the reasoning of one answer and replaces earlier entries under its keys.
   *
   * @param keys keys of each call, in the order of the steps.
   */
  save(name: string, keys: readonly CallKeys[], reasoning: AnswerReasoning): void {
    this.expire()
    this.forget(name, keys)
    const size = ENTRY_OVERHEAD + bytesOf(reasoning) + bytesOf(keys)
    if (size > this.limits.memory) return
    const owner = this.ownerOf(name)
    const entry = { owner, keys: new Set(keys.flat()), size, usedAt: this.now() } as Entry
    entry.globalLink = this.all.push(entry)
    entry.ownerLink = owner.entries.push(entry)
    keys.forEach((names, step) => {
      for (const key of names) owner.byKey.set(key, { reasoning, step, entry })
    })
    owner.positionKeys += countPositionKeys(entry.keys)
    this.grow(owner, size)
    this.evict()
    this.startTimer()
  }

  /** Removes keys whose calls were made again without reasoning. An entry remains under its other keys. */
  forget(name: string, keys: readonly CallKeys[]): void {
    for (const key of keys.flat()) this.forgetKey(name, key)
  }

  /** Applies new limits and immediately evicts the entries that exceed them. */
  reload(limits: ReasoningMemoryConfig): void {
    this.limits = limits
    this.evict()
    this.stopTimer()
    this.sweep()
  }

  /** Removes every entry. */
  clear(): void {
    while (this.all.first !== undefined) this.drop(this.all.first)
    this.stopTimer()
  }

  private ownerOf(name: string): Owner {
    const empty = (): Owner => ({ name, byKey: new Map(), entries: new LinkedList(), positionKeys: 0, size: 0 })
    return this.owners.getOrInsertComputed(name, empty)
  }

  private markUsed(entry: Entry): void {
    entry.usedAt = this.now()
    this.all.moveToEnd(entry.globalLink)
    entry.owner.entries.moveToEnd(entry.ownerLink)
  }

  private forgetKey(name: string, key: string): void {
    const owner = this.owners.get(name)
    const entry = owner?.byKey.get(key)?.entry
    if (owner === undefined || entry === undefined) return
    owner.byKey.delete(key)
    owner.positionKeys -= countPositionKeys([key])
    entry.keys.delete(key)
    if (entry.keys.size === 0) this.drop(entry)
  }

  private drop(entry: Entry): void {
    const { owner, keys, size } = entry
    this.all.remove(entry.globalLink)
    owner.entries.remove(entry.ownerLink)
    for (const key of keys) owner.byKey.delete(key)
    owner.positionKeys -= countPositionKeys(keys)
    this.grow(owner, -size)
    if (owner.size === 0) this.owners.delete(owner.name)
  }

  private grow(owner: Owner, by: number): void {
    this.classes.move(owner, owner.size, owner.size + by)
    owner.size += by
    this.totalSize += by
  }

  private evict(): void {
    while (this.totalSize > this.limits.memory) this.drop(this.classes.largest()!.entries.first!)
  }

  private expire(): void {
    const oldest = this.now() - this.limits.retention
    for (let entry = this.all.first; entry !== undefined && entry.usedAt <= oldest; entry = this.all.first)
      this.drop(entry)
  }

  /** Starts the timer that removes expired entries even if nothing is looked up again. */
  private startTimer(): void {
    const entry = this.all.first
    if (entry === undefined || this.timer !== undefined) return
    const wait = Math.max(1, entry.usedAt + this.limits.retention - this.now())
    this.timer = setTimeout(this.sweep, Math.min(wait, MAX_TIMER_DELAY)).unref()
  }

  private stopTimer(): void {
    clearTimeout(this.timer)
    this.timer = undefined
  }

  private readonly sweep = (): void => {
    this.timer = undefined
    this.expire()
    this.startTimer()
  }
}

function countPositionKeys(keys: Iterable<string>): number {
  let count = 0
  for (const key of keys) if (isPositionKey(key)) count++
  return count
}

/** Estimated size of an object, of a list and of each of their fields, in bytes. */
const NODE_SIZE = 48
/** Number of bytes per character. V8 uses one or two. */
const CHARACTER_SIZE = 2

/**
 * Estimates the size of a JSON value in memory, in bytes. Errs on the high side. Uses no recursion, so that deeply
 * nested values are safe.
 */
function bytesOf(value: unknown): number {
  const remaining = [value]
  let bytes = 0
  while (remaining.length > 0) {
    const next = remaining.pop()
    bytes += NODE_SIZE
    if (typeof next === 'string') bytes += next.length * CHARACTER_SIZE
    else if (typeof next === 'object' && next !== null) for (const field of Object.values(next)) remaining.push(field)
  }
  return bytes
}

/** Number of size classes. Enough, because sizes are below 2^53. */
const CLASS_COUNT = 54

const classOf = (size: number): number => Math.floor(Math.log2(size))

/**
 * Finds an item with the largest size, or at least half of that size. Sizes in the same power of two count as equal, so
 * nothing needs to be sorted.
 */
class SizeClasses<T> {
  private readonly classes: readonly Set<T>[] = Array.from({ length: CLASS_COUNT }, () => new Set<T>())

  /** Moves an item whose size changed to its new class. Items of size 0 are in no class. */
  move(item: T, from: number, to: number): void {
    const [before, after] = [from, to].map(size => (size === 0 ? undefined : this.classes[classOf(size)]))
    if (before === after) return
    before?.delete(item)
    after?.add(item)
  }

  largest(): T | undefined {
    const largest = this.classes.findLast(({ size }) => size > 0)
    return largest?.values().next().value
  }
}
