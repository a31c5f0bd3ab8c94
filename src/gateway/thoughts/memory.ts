import type { ThoughtsConfig } from '../../config/index.ts'
import { isPlaceKey } from './call-keys.ts'
import { type Link, LinkedList } from './linked-list.ts'
import type { CallKeys, Found, KeptThoughts } from './store.ts'

/** The thoughts of one answer, and where they stand in line. */
interface Entry {
  readonly owner: Owner
  readonly keys: Set<string>
  readonly size: number
  usedAt: number
  inAll: Link<Entry>
  inOwn: Link<Entry>
}

interface Owner {
  readonly name: string
  readonly byKey: Map<string, Found & { readonly entry: Entry }>
  readonly entries: LinkedList<Entry>
  /** Keys that are no ids. */
  places: number
  size: number
}

/** Bytes an entry takes beside what it holds: its places in line and under its keys. */
const ENTRY = 512

/** A timer of Node holds no more milliseconds. */
const LONGEST_WAIT = 2 ** 31 - 1

/**
 * Thoughts in the memory of this process, by the owner of the caller's key and the names a call can be found under, until they are not used for a while. Where there is no room, the least
 * recently used of the owner who holds most is forgotten (`SizeClasses`), so that one owner's many never push out
 * another's few. Every operation takes the same time however much is kept, and one timer serves all.
 */
export class MemoryStore {
  private limits: ThoughtsConfig
  private readonly now: () => number
  private readonly owners = new Map<string, Owner>()
  /** All entries, the least recently used first. */
  private readonly all = new LinkedList<Entry>()
  private readonly classes = new SizeClasses<Owner>()
  private timer: NodeJS.Timeout | undefined
  private total = 0

  constructor(limits: ThoughtsConfig, now: () => number = Date.now) {
    this.limits = limits
    this.now = now
  }

  /** Bytes of all that is kept, estimated. */
  get size(): number {
    return this.total
  }

  /** Whether anything of the owner is kept: most requests need not be looked through. */
  holds(owner: string): boolean {
    return this.owners.has(owner)
  }

  /** Whether some of it has a key that is no id. */
  holdsPlaces(owner: string): boolean {
    return (this.owners.get(owner)?.places ?? 0) > 0
  }

  /** Whether something is known under the key; that is no use of it. */
  has(owner: string, key: string): boolean {
    return this.owners.get(owner)?.byKey.has(key) === true
  }

  /** What is looked up is in use, and kept for another while. */
  find(owner: string, key: string): Found | undefined {
    this.expire()
    const found = this.owners.get(owner)?.byKey.get(key)
    if (found !== undefined) this.use(found.entry)
    return found
  }

  /** @param keys of each call, in the order of the steps; what is known under a key already is forgotten. */
  keep(name: string, keys: readonly CallKeys[], thoughts: KeptThoughts): void {
    this.expire()
    this.forget(name, keys)
    const size = ENTRY + weightOf(thoughts) + weightOf(keys)
    if (size > this.limits.memory) return
    const owner = this.ownerOf(name)
    const entry = { owner, keys: new Set(keys.flat()), size, usedAt: this.now() } as Entry
    entry.inAll = this.all.push(entry)
    entry.inOwn = owner.entries.push(entry)
    keys.forEach((names, step) => {
      for (const key of names) owner.byKey.set(key, { thoughts, step, entry })
    })
    owner.places += placesAmong(entry.keys)
    this.grow(owner, size)
    this.makeRoom()
    this.arm()
  }

  /** Calls under these keys were made again, without a thought; what has other keys as well is still known by those. */
  forget(name: string, keys: readonly CallKeys[]): void {
    for (const key of keys.flat()) this.forgetKey(name, key)
  }

  /** Takes other limits: what is more than they allow goes at once. */
  reload(limits: ThoughtsConfig): void {
    this.limits = limits
    this.makeRoom()
    this.disarm()
    this.sweep()
  }

  /** Forgets everything. */
  clear(): void {
    while (this.all.first !== undefined) this.drop(this.all.first)
    this.disarm()
  }

  private ownerOf(name: string): Owner {
    const empty = (): Owner => ({ name, byKey: new Map(), entries: new LinkedList(), places: 0, size: 0 })
    return this.owners.getOrInsertComputed(name, empty)
  }

  private use(entry: Entry): void {
    entry.usedAt = this.now()
    this.all.moveToEnd(entry.inAll)
    entry.owner.entries.moveToEnd(entry.inOwn)
  }

  private forgetKey(name: string, key: string): void {
    const owner = this.owners.get(name)
    const entry = owner?.byKey.get(key)?.entry
    if (owner === undefined || entry === undefined) return
    owner.byKey.delete(key)
    owner.places -= placesAmong([key])
    entry.keys.delete(key)
    if (entry.keys.size === 0) this.drop(entry)
  }

  private drop(entry: Entry): void {
    const { owner, keys, size } = entry
    this.all.remove(entry.inAll)
    owner.entries.remove(entry.inOwn)
    for (const key of keys) owner.byKey.delete(key)
    owner.places -= placesAmong(keys)
    this.grow(owner, -size)
    if (owner.size === 0) this.owners.delete(owner.name)
  }

  private grow(owner: Owner, by: number): void {
    this.classes.move(owner, owner.size, owner.size + by)
    owner.size += by
    this.total += by
  }

  private makeRoom(): void {
    while (this.total > this.limits.memory) this.drop(this.classes.largest()!.entries.first!)
  }

  private expire(): void {
    const oldest = this.now() - this.limits.keep
    for (let entry = this.all.first; entry !== undefined && entry.usedAt <= oldest; entry = this.all.first)
      this.drop(entry)
  }

  /** Removes what expired, also where nothing is looked up any more. */
  private arm(): void {
    const entry = this.all.first
    if (entry === undefined || this.timer !== undefined) return
    const wait = Math.max(1, entry.usedAt + this.limits.keep - this.now())
    this.timer = setTimeout(this.sweep, Math.min(wait, LONGEST_WAIT)).unref()
  }

  private disarm(): void {
    clearTimeout(this.timer)
    this.timer = undefined
  }

  private readonly sweep = (): void => {
    this.timer = undefined
    this.expire()
    this.arm()
  }
}

function placesAmong(keys: Iterable<string>): number {
  let places = 0
  for (const key of keys) if (isPlaceKey(key)) places++
  return places
}

/** What an object, a list and each of their fields take, roughly. */
const NODE = 48
/** The engine keeps a text in one byte a character or in two. */
const CHARACTER = 2

/** Bytes that a value of JSON takes in memory, rather too many than too few; however deep it is. */
function weightOf(value: unknown): number {
  const left = [value]
  let weight = 0
  while (left.length > 0) {
    const one = left.pop()
    weight += NODE
    if (typeof one === 'string') weight += one.length * CHARACTER
    else if (typeof one === 'object' && one !== null) for (const field of Object.values(one)) left.push(field)
  }
  return weight
}

/** 2^53 is the largest size there can be. */
const CLASSES = 54

const classOf = (size: number): number => Math.floor(Math.log2(size))

/**
 * Who holds most, or half of that at least: sizes that share their power of two count as alike, so that nothing need be
 * sorted.
 */
class SizeClasses<T> {
  private readonly classes: readonly Set<T>[] = Array.from({ length: CLASSES }, () => new Set<T>())

  /** One whose size changed; entries of size 0 are not held. */
  move(one: T, from: number, to: number): void {
    const [before, after] = [from, to].map(size => (size === 0 ? undefined : this.classes[classOf(size)]))
    if (before === after) return
    before?.delete(one)
    after?.add(one)
  }

  largest(): T | undefined {
    const held = this.classes.findLast(({ size }) => size > 0)
    return held?.values().next().value
  }
}
