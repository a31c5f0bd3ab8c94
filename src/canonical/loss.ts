import { append } from './lists.ts'
import { type Format, isObject, type Node } from './node.ts'

/** A path within a canonical value: field names and list indexes. */
export type Path = readonly (string | number)[]

/**
 * Appends a step to a path. Avoids a spread: V8 allocates sixteen extra slots for an array literal that contains one,
 * and writers create a path for each message and part.
 */
export function childPath(path: Path, step: string | number): Path {
  const { length } = path
  const child = new Array<string | number>(length + 1)
  for (let index = 0; index < length; index++) child[index] = path[index]!
  child[length] = step
  return child
}

/**
 * A difference between a canonical value and its form in a wire format. Paths refer to the original value, so that
 * losses can be replayed: reading the written request gives exactly `lose(original, losses)`.
 */
export type Loss = {
  readonly path: Path
  /** Reason in kebab-case, such as `no-top-k`. */
  readonly reason: string
  /** True if the gateway reverses the loss on the response path, so that the caller never notices. */
  readonly restored?: true
} & (
  | { readonly kind: 'dropped' }
  | { readonly kind: 'changed' | 'added'; readonly became: unknown }
  | { readonly kind: 'moved'; readonly order: readonly number[] }
  /** The last step of the path is the index in the original list before which the value was inserted. */
  | { readonly kind: 'inserted'; readonly value: unknown }
)

/** A request or answer in a wire format, with the losses from writing it. */
export interface Written<Wire> {
  readonly wire: Wire
  readonly losses: readonly Loss[]
  /** Original tools by the names sent to the upstream, for the response path. */
  readonly renamed?: ReadonlyMap<string, CalledTool>
  /** True if words alone ask the upstream for JSON, so that the answer may stand in a code fence. */
  readonly mayBeFenced?: true
}

/**
 * A tool as the caller defined it. The arguments of a freeform tool are text, even if it was sent to the upstream as a
 * function.
 */
export interface CalledTool {
  readonly name: string
  readonly namespace?: string
  readonly freeform?: true
}

/**
 * The loss reason for each node field that a writer does not write. After a new canonical field is added, the code does
 * not compile until every such table lists the field as written or gives a reason. Settings have their reasons in their
 * rows (settings.ts).
 */
export type Unwritten<N, Written extends PropertyKey = never> = {
  readonly [Field in Exclude<keyof N, Written | keyof Node>]-?: string
}

/** Collects losses while a value is being written. */
export class Losses {
  readonly list: Loss[]

  /** @param found losses found elsewhere, to start with. */
  constructor(found: readonly Loss[] = []) {
    this.list = [...found]
  }

  /** Reports a dropped value. Returns undefined, to be written instead. */
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
  /**
   * Reports a reordered list, unless the order is unchanged.
   *
   * @param written the original indexes of the items that were written, in the order of writing.
   * @param length the number of items in the original list.
   */
  reorder(path: Path, written: readonly number[], length: number, reason: string): void {
    if (written.every((index, position) => position === 0 || written[position - 1]! < index)) return
    this.move(path, withOthersLast(written, length), reason)
  }
  insert(path: Path, value: unknown, reason: string): void {
    this.list.push({ kind: 'inserted', path, value, reason })
  }
  /** Reports a change that the gateway reverses on the response path. */
  changeRestored(path: Path, became: unknown, reason: string): void {
    this.list.push({ kind: 'changed', path, became, reason, restored: true })
  }
  /** Reports an addition that the gateway reverses on the response path. */
  addRestored(path: Path, became: unknown, reason: string): void {
    this.list.push({ kind: 'added', path, became, reason, restored: true })
  }
  /** Reports an insertion of content that is elsewhere in the original. */
  insertRestored(path: Path, value: unknown, reason: string): void {
    this.list.push({ kind: 'inserted', path, value, reason, restored: true })
  }
  /** Reports a drop that the gateway reverses on the response path. */
  dropRestored(path: Path, reason: string): undefined {
    this.list.push({ kind: 'dropped', path, reason, restored: true })
  }
  /** Adds losses that were found elsewhere. */
  report(found: readonly Loss[]): void {
    append(this.list, found)
  }
  /** Reports each of `fields` that the node has as dropped, with its reason. */
  dropFields(node: object | undefined, path: Path, fields: { readonly [field: string]: string }): void {
    if (node === undefined) return
    for (const field in fields)
      if ((node as Record<string, unknown>)[field] !== undefined) this.drop([...path, field], fields[field]!)
  }
}

/**
 * Returns an order of `length` items that starts with these indexes, followed by the remaining indexes in ascending
 * order.
 */
export function withOthersLast(first: readonly number[], length: number): readonly number[] {
  const order = new Set(first)
  for (let index = 0; index < length; index++) order.add(index)
  return [...order]
}

/**
 * Translates a loss in one request's messages to a request in which the same messages are `offset` indexes later.
 * Returns undefined for a loss outside the messages, and for a message that the other request does not have.
 */
export function shifted(loss: Loss, offset: number): Loss | undefined {
  const [field, index, ...rest] = loss.path
  if (field !== 'messages' || typeof index !== 'number' || index + offset < 0) return undefined
  return { ...loss, path: [field, index + offset, ...rest] }
}

/** Placeholder for a dropped item until all losses are applied, so that the indexes of other losses remain valid. */
const DROPPED = Symbol('gone')

/** Applies losses to a copy of the value. Returns what remains of the value after writing and reading it again. */
export function lose<T>(value: T, losses: readonly Loss[]): T {
  const root = { value: copy(value) }
  const deferredChanges: (() => void)[] = []
  for (const loss of losses) {
    const path = ['value', ...loss.path]
    const last = path.pop()!
    const parent = parentAt(root, path)
    if (parent === undefined) continue
    if (loss.kind === 'dropped') parent[last] = DROPPED
    else if (loss.kind === 'moved') deferredChanges.push(() => reorder(parent, last, loss.order))
    else if (loss.kind === 'inserted') deferredChanges.push(() => insert(parent, last, loss.value))
    else parent[last] = copy(loss.became)
  }
  for (const change of deferredChanges.reverse()) change()
  return withoutDropped(root.value) as T
}

type Container = Record<string | number, unknown>

function parentAt(root: Container, path: Path): Container | undefined {
  let at: unknown = root
  for (const key of path) {
    if (typeof at !== 'object' || at === null) return undefined
    at = (at as Container)[key]
  }
  return typeof at === 'object' && at !== null ? (at as Container) : undefined
}

/** Mutates the list instead of replacing it, because a later insertion may refer to it. */
function reorder(parent: Container, key: string | number, order: readonly number[]): void {
  const list = parent[key]
  if (!Array.isArray(list)) return
  const reorderedItems = order.map(index => list[index])
  list.length = 0
  append(list, reorderedItems)
}

/**
 * Inserts a value into a list. Writers report losses in reading order and `lose` applies late changes in reverse, so
 * insertions at higher indexes are applied first and leave lower indexes valid.
 */
function insert(parent: Container, index: string | number, value: unknown): void {
  if (Array.isArray(parent)) parent.splice(Number(index), 0, copy(value))
}

/** Copies plain objects and lists. Class instances, such as the bytes of a file, are shared. */
function copy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copy)
  if (!isPlainObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copy(item)]))
}

const isPlainObject = (value: unknown): value is object =>
  isObject(value) && (Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null)

function withoutDropped(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter(item => item !== DROPPED).map(withoutDropped)
  if (!isPlainObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => (item as unknown) !== DROPPED)
      .map(([key, item]) => [key, withoutDropped(item)]),
  )
}

/** Fields with arbitrary JSON from callers, which contains no canonical nodes, whatever its keys. */
const FREE_JSON_FIELDS = new Set(['parameters', 'schema', 'value', 'metadata', 'spelling', 'bytes', 'vector'])

/**
 * Finds everything that belongs to another format: extras, and opaque parts, tools and annotations. Writers do not look
 * for these themselves. A request in the writer's own format has none, so native requests do not need to be walked.
 * File ids and signatures are left to the writers: a request writer drops a signature of another format, a result
 * writer wraps it.
 */
export function foreignLosses(value: unknown, format: Format): Loss[] {
  const losses: Loss[] = []
  walk(value, format, [], losses)
  return losses
}

function walk(value: unknown, format: Format, path: (string | number)[], losses: Loss[]): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) walkStep(value[index], format, path, index, losses)
    return
  }
  const node = value as Record<string, unknown>
  if (node['type'] === 'opaque') {
    reportOpaque(node, format, path, losses)
    return
  }
  for (const key in node) {
    if (FREE_JSON_FIELDS.has(key)) continue
    if (key === 'extras') reportExtras(node[key] as object, format, path, losses)
    else walkStep(node[key], format, path, key, losses)
  }
}

function walkStep(
  value: unknown,
  format: Format,
  path: (string | number)[],
  key: string | number,
  losses: Loss[],
): void {
  if (typeof value !== 'object' || value === null) return
  path.push(key)
  walk(value, format, path, losses)
  path.pop()
}

function reportOpaque(node: Record<string, unknown>, format: Format, path: Path, losses: Loss[]): void {
  if (node['format'] === format) return
  const text = node['text']
  if (typeof text === 'string')
    losses.push({ kind: 'changed', path: [...path], became: { type: 'text', text }, reason: 'said-in-words' })
  else losses.push(droppedLoss([...path], String(node['format'])))
}

/**
 * Creates the loss of a value that only the format `owner` defines. Annotations on earlier answers in a request are
 * restored losses, because no other upstream would read them.
 */
const droppedLoss = (path: Path, owner: Format): Loss => ({
  kind: 'dropped',
  path,
  reason: `only-in-${owner}`,
  ...(path[0] === 'messages' && path.includes('annotations') ? { restored: true } : {}),
})

function reportExtras(node: object, format: Format, path: Path, losses: Loss[]): void {
  for (const owner in node)
    if (owner !== format)
      for (const field of Object.keys((node as Record<string, object>)[owner]!))
        losses.push(droppedLoss([...path, 'extras', owner, field], owner))
}

/** Numbers of losses by kind. */
export interface LossKinds {
  readonly dropped: number
  readonly changed: number
  readonly moved: number
}
