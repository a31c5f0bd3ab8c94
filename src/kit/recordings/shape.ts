import { isObject, type Json, parseJson } from '../../canonical/node.ts'
import { bodyBytes, bytesOf } from './body.ts'
import { eventRanges } from './event-ranges.ts'
import type { RecordedAnswer } from './recording.ts'

/** Fields whose values are data of callers and models. Names inside them are not part of a shape. */
const DATA_FIELDS: ReadonlySet<string> = new Set(['input', 'args', 'metadata', 'schema', 'parameters'])

/** The fields of an answer with the types of their values. Items of a list are distinguished by their field `type`. */
export interface Shape {
  readonly types: ReadonlyMap<string, ReadonlySet<string>>
  /** Lists that had no items. */
  readonly empty: ReadonlySet<string>
}

/** Returns the shape of an answer: status, media type, and the fields of its body or of its events. */
export function shapeOf({ status, headers, body, chunks }: RecordedAnswer): Shape {
  const types = new Map<string, Set<string>>([
    ['status', new Set([String(status)])],
    ['content-type', new Set([mediaType(headers['content-type'])])],
  ])
  const empty = new Set<string>()
  const text = (chunks === undefined ? bodyBytes(body) : Buffer.concat(chunks.map(bytesOf))).toString('utf8')
  const ranges =
    chunks === undefined ? [{ start: 0, end: text.length }] : eventRanges(text, headers['content-type'] ?? '')
  for (const { start, end } of ranges) {
    const value = parseJson(text.slice(start, end))
    if (value !== undefined) collect(value, typeof value === 'object' ? nameOf(value) : '', types, empty)
  }
  return { types, empty }
}

const mediaType = (type = ''): string => type.split(';', 1)[0]!.trim().toLowerCase()

/** Returns the name that distinguishes an event or item from others: its type. */
const nameOf = (value: Json): string =>
  isObject(value) && typeof value['type'] === 'string' ? `${value['type']}:` : ''

function collect(value: Json, path: string, types: Map<string, Set<string>>, empty: Set<string>): void {
  const type = typeOf(value)
  if (path !== '') types.getOrInsertComputed(path, () => new Set()).add(type)
  if (Array.isArray(value)) {
    if (value.length === 0) empty.add(path)
    for (const item of value) collect(item, `${path}[${nameOf(item).slice(0, -1)}]`, types, empty)
  } else if (isObject(value))
    for (const [name, item] of Object.entries(value)) {
      const field = path === '' || path.endsWith(':') ? path + name : `${path}.${name}`
      if (DATA_FIELDS.has(name)) types.getOrInsertComputed(field, () => new Set()).add(typeOf(item))
      else collect(item, field, types, empty)
    }
}

const typeOf = (value: Json): string => (value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value)

/** Lists the changes between two shapes: `+` for added, `-` for removed, `~` for another type. */
export function drift(before: Shape, after: Shape): readonly string[] {
  const paths = [...new Set([...before.types.keys(), ...after.types.keys()])]
  const unobserved = [unobservedLists(before), unobservedLists(after)]
  return paths.flatMap(path => {
    const [was, is] = [before.types.get(path), after.types.get(path)].map(one => one && [...one].sort().join(' or '))
    if (was === is || unobserved.some(lists => isInside(path, lists))) return []
    if (was === undefined) return [`+ ${path}: ${is}`]
    return [is === undefined ? `- ${path}: ${was}` : `~ ${path}: ${was}, now ${is}`]
  })
}

/** Lists whose fields a shape does not show, because every one was empty. */
interface UnobservedLists {
  readonly paths: ReadonlySet<string>
  /** Lengths of these paths. */
  readonly lengths: ReadonlySet<number>
}

function unobservedLists({ types, empty }: Shape): UnobservedLists {
  const lengths = new Set([...empty].map(({ length }) => length))
  const observed = new Set([...types.keys()].flatMap(path => listsAround(path, lengths)))
  const paths = empty.difference(observed)
  return { paths, lengths: new Set([...paths].map(({ length }) => length)) }
}

const isInside = (path: string, { paths, lengths }: UnobservedLists): boolean =>
  paths.size > 0 && listsAround(path, lengths).some(list => paths.has(list))

/** Returns the paths of the lists around a field, but only those of certain lengths. */
function listsAround(path: string, lengths: ReadonlySet<number>): readonly string[] {
  const lists: string[] = []
  for (let at = path.indexOf('['); at >= 0; at = path.indexOf('[', at + 1))
    if (lengths.has(at)) lists.push(path.slice(0, at))
  return lists
}
