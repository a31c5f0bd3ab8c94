import { append } from './lists.ts'
import { type Format, isObject, type Node } from './node.ts'

export type Path = readonly (string | number)[]

/**
 * The path one step further. A list with a spread one inside is made with room for sixteen more items, and writers make
 * a path for each message and part.
 */
export function below(path: Path, step: string | number): Path {
  const { length } = path
  const longer = new Array<string | number>(length + 1)
  for (let index = 0; index < length; index++) longer[index] = path[index]!
  longer[length] = step
  return longer
}

/**
 * One difference between a value and what a wire format could carry of it. Paths point into the original value, so a
 * list of losses can be replayed on it: reading what was written gives exactly `lose(original, losses)`.
 */
export type Loss = {
  readonly path: Path
  /** Why, in kebab-case: `no-top-k`. */
  readonly reason: string
  /** The gateway undoes it on the response path, so the caller never sees it. */
  readonly restored?: true
} & (
  | { readonly kind: 'dropped' }
  | { readonly kind: 'changed' | 'added'; readonly became: unknown }
  | { readonly kind: 'moved'; readonly order: readonly number[] }
  /** The path ends in the list index before which it was inserted. */
  | { readonly kind: 'inserted'; readonly value: unknown }
)

export interface Written<Wire> {
  readonly wire: Wire
  readonly losses: readonly Loss[]
  /** How tools were made valid for this upstream: wire name to what the caller calls, for the response path. */
  readonly renamed?: ReadonlyMap<string, CalledTool>
}

/** A tool as the caller's calls name it; a freeform one takes plain text, although the upstream was given a function. */
export interface CalledTool {
  readonly name: string
  readonly namespace?: string
  readonly freeform?: true
}

/**
 * Why each field of a node is lost that a writer does not write. A new canonical field does not compile until every such
 * table names it as written or has a reason for it; settings have theirs in their rows (settings.ts).
 */
export type Unwritten<N, Written extends PropertyKey = never> = {
  readonly [Field in Exclude<keyof N, Written | keyof Node>]-?: string
}

/** Collects losses while a value is written. */
export class Losses {
  readonly list: Loss[]

  /** Begins with losses found elsewhere. */
  constructor(found: readonly Loss[] = []) {
    this.list = [...found]
  }

  /** Returns what is written of a value that is lost: nothing. */
  drop(path: Path, reason: string): undefined {
    this.list.push({ kind: 'dropped', path, reason })
  }
  change(path: Path, became: unknown, reason: string): void {
    this.list.push({ kind: 'changed', path, became, reason })
  }
  add(path: Path, became: unknown, reason: string): void {
    this.list.push({ kind: 'added', path, became, reason })
  }
  move(path: Path, order: readonly number[], reason: string): void {
    this.list.push({ kind: 'moved', path, order, reason })
  }
  /** A list of so many items of which these were written in this order; no loss where it is their own. */
  reorder(path: Path, written: readonly number[], length: number, reason: string): void {
    if (written.every((index, place) => place === 0 || written[place - 1]! < index)) return
    this.move(path, withOthersLast(written, length), reason)
  }
  insert(path: Path, value: unknown, reason: string): void {
    this.list.push({ kind: 'inserted', path, value, reason })
  }
  /** A change the gateway undoes on the response path. */
  rename(path: Path, became: unknown, reason: string): void {
    this.list.push({ kind: 'changed', path, became, reason, restored: true })
  }
  /** An addition the gateway undoes on the response path. */
  state(path: Path, became: unknown, reason: string): void {
    this.list.push({ kind: 'added', path, became, reason, restored: true })
  }
  /** A drop the gateway undoes on the response path. */
  hide(path: Path, reason: string): void {
    this.list.push({ kind: 'dropped', path, reason, restored: true })
  }
  /** Adds losses found elsewhere. */
  report(found: readonly Loss[]): void {
    append(this.list, found)
  }
  /** Drops each of the named fields that the node has. */
  dropFields(node: object | undefined, path: Path, fields: { readonly [field: string]: string }): void {
    if (node === undefined) return
    for (const field in fields)
      if ((node as Record<string, unknown>)[field] !== undefined) this.drop([...path, field], fields[field]!)
  }
}

/** The order of a list of so many items in which these come first. */
export function withOthersLast(first: readonly number[], length: number): readonly number[] {
  const order = new Set(first)
  for (let index = 0; index < length; index++) order.add(index)
  return [...order]
}

/**
 * A loss in the messages of one request at its place in another, whose messages are `by` places further on; undefined
 * for a loss of anything else, or of a message the other does not have.
 */
export function shifted(loss: Loss, by: number): Loss | undefined {
  const [field, place, ...rest] = loss.path
  if (field !== 'messages' || typeof place !== 'number' || place + by < 0) return undefined
  return { ...loss, path: [field, place + by, ...rest] }
}

const GONE = Symbol('gone')

/** The canonical value without its reported losses. */
export function lose<T>(value: T, losses: readonly Loss[]): T {
  const root = { value: copy(value) }
  const late: (() => void)[] = []
  for (const loss of losses) {
    const path = ['value', ...loss.path]
    const last = path.pop()!
    const parent = parentAt(root, path)
    if (parent === undefined) continue
    if (loss.kind === 'dropped') parent[last] = GONE
    else if (loss.kind === 'moved') late.push(() => reorder(parent, last, loss.order))
    else if (loss.kind === 'inserted') late.push(() => insert(parent, last, loss.value))
    else parent[last] = copy(loss.became)
  }
  for (const change of late.reverse()) change()
  return compact(root.value) as T
}

type Holder = Record<string | number, unknown>

function parentAt(root: Holder, path: Path): Holder | undefined {
  let at: unknown = root
  for (const key of path) {
    if (typeof at !== 'object' || at === null) return undefined
    at = (at as Holder)[key]
  }
  return typeof at === 'object' && at !== null ? (at as Holder) : undefined
}

/** In place: a later insertion into the same list already holds a reference to it. */
function reorder(parent: Holder, key: string | number, order: readonly number[]): void {
  const list = parent[key]
  if (!Array.isArray(list)) return
  const moved = order.map(index => list[index])
  list.length = 0
  append(list, moved)
}

/** Later places first: `lose` runs its list of late changes backwards, and writers report in reading order. */
function insert(parent: Holder, index: string | number, value: unknown): void {
  if (Array.isArray(parent)) parent.splice(Number(index), 0, copy(value))
}

/** Plain objects and lists anew; anything with a class of its own is a leaf, like the bytes of a file. */
function copy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copy)
  if (!isPlainObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copy(item)]))
}

const isPlainObject = (value: unknown): value is object =>
  isObject(value) && (Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null)

function compact(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter(item => item !== GONE).map(compact)
  if (!isPlainObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => (item as unknown) !== GONE)
      .map(([key, item]) => [key, compact(item)]),
  )
}

/** Free JSON of callers: nothing inside is canonical, whatever its keys are. */
const FREE = new Set(['parameters', 'schema', 'value', 'metadata', 'spelling', 'bytes', 'vector'])

/**
 * Losses of everything tagged with another format's name: extras, opaque parts, tools and annotations, and file ids.
 * Writers never look for these themselves. A request in the writer's own format has none of them, so a native request
 * need not be walked. Signatures are left to the writers: a request writer drops a foreign one, a result writer carries
 * it in an envelope.
 */
export function foreignLosses(value: unknown, format: Format): Loss[] {
  const losses: Loss[] = []
  walk(value, format, [], losses)
  return losses
}

function walk(value: unknown, format: Format, path: (string | number)[], losses: Loss[]): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) step(value[index], format, path, index, losses)
    return
  }
  const node = value as Record<string, unknown>
  if (node['type'] === 'opaque') {
    opaque(node, format, path, losses)
    return
  }
  for (const key in node) {
    if (FREE.has(key)) continue
    if (key === 'extras') extras(node[key] as object, format, path, losses)
    else step(node[key], format, path, key, losses)
  }
}

function step(value: unknown, format: Format, path: (string | number)[], key: string | number, losses: Loss[]): void {
  if (typeof value !== 'object' || value === null) return
  path.push(key)
  walk(value, format, path, losses)
  path.pop()
}

function opaque(node: Record<string, unknown>, format: Format, path: Path, losses: Loss[]): void {
  if (node['format'] === format) return
  const text = node['text']
  if (typeof text === 'string')
    losses.push({ kind: 'changed', path: [...path], became: { type: 'text', text }, reason: 'said-in-words' })
  else losses.push(dropped([...path], String(node['format'])))
}

/** Annotations of earlier answers in a request are restored losses: no other upstream would read them. */
const dropped = (path: Path, owner: Format): Loss => ({
  kind: 'dropped',
  path,
  reason: `only-in-${owner}`,
  ...(path[0] === 'messages' && path.includes('annotations') ? { restored: true } : {}),
})

function extras(node: object, format: Format, path: Path, losses: Loss[]): void {
  for (const owner in node)
    if (owner !== format)
      for (const field of Object.keys((node as Record<string, object>)[owner]!))
        losses.push(dropped([...path, 'extras', owner, field], owner))
}
