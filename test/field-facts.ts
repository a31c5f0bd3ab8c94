import fc from 'fast-check'
import type { Path } from '../src/canonical/loss.ts'
import { isObject, type Json, type JsonObject } from '../src/canonical/node.ts'
import type { CanonicalRequest } from '../src/canonical/request.ts'
import type { CanonicalResult } from '../src/canonical/result.ts'
import type { Work } from '../src/canonical/work.ts'
import { WRITERS } from '../src/egress/index.ts'
import { FORMAT_FACTS } from '../src/formats/index.ts'
import { FOREIGN } from './builders/write-options.ts'
import { handedTo, plain } from './laws/support.ts'
import { WORKS } from './laws/works.ts'

/*
 * The position of each field of canonical requests and answers in each format. Compares the bodies of generated values
 * with and without the field, so that pages always agree with the writers.
 */

/** Options of the generated values for each kind of work. The seed is fixed, so that pages are stable. */
const SAMPLE = { numRuns: 150, seed: 1 }

/** Properties that are not fields: spelling and extras. */
const SKIPPED: ReadonlySet<string> = new Set(['extras', 'spelling', 'model', 'type', 'stream'])

/** A field as named on the pages, and the path to one occurrence of it. */
interface Occurrence {
  readonly field: string
  readonly path: Path
}

/** A field in a format: the shortest list of positions in the body, and the reasons of its loss. */
export interface Cell {
  places: readonly string[] | undefined
  readonly reasons: Set<string>
}

/** The fields of one kind of work, each with its cell in every format. */
export interface FieldFacts {
  readonly formats: readonly string[]
  readonly rows: ReadonlyMap<string, ReadonlyMap<string, Cell>>
}

const found = new Map<string, FieldFacts>()

/** Returns the fields of the requests or answers of a kind of work. */
export function fieldFacts(work: Work, direction: 'request' | 'result'): FieldFacts {
  const name = `${work} ${direction}`
  const facts = found.get(name) ?? factsOf(work, direction)
  found.set(name, facts)
  return facts
}

function factsOf(work: Work, direction: 'request' | 'result'): FieldFacts {
  const formats = [...FORMAT_FACTS]
    .filter(([name, { does }]) => does.includes(work) && WRITERS[name]?.[direction] !== undefined)
    .map(([name]) => name)
  const { asked } = WORKS[work]!
  const drawn: readonly Value[] = fc.sample(WORKS[work]![direction] as fc.Arbitrary<Value>, SAMPLE)
  const values = drawn.filter(hasUniqueNames)
  const writtenAs = (format: string, value: Value): WrittenBody | undefined =>
    direction === 'request'
      ? requestAs(format, value as CanonicalRequest)
      : resultAs(format, value as CanonicalResult, asked)
  const optional = optionalFields(values)
  const rows = new Map<string, Map<string, Cell>>()
  for (const value of values) {
    for (const format of formats) {
      const whole = writtenAs(format, value)
      if (whole === undefined) continue
      for (const { field, path } of occurrencesIn(value)) {
        if (optional.has(field))
          compare(cellOf(rows, field, format), { value, path, whole, rewrite: one => writtenAs(format, one) })
      }
    }
  }
  return { formats, rows }
}

type Value = CanonicalRequest | CanonicalResult

/** Returns false for tools of one name, of which some formats drop one, so that another takes its place. */
function hasUniqueNames(value: Value): boolean {
  const names = 'tools' in value ? (value.tools ?? []).flatMap(tool => ('name' in tool ? [tool.name] : [])) : []
  return new Set(names).size === names.length
}

interface WrittenBody {
  readonly leaves: ReadonlyMap<string, number>
  readonly losses: readonly { readonly path: Path; readonly reason: string }[]
}

interface Probe {
  readonly value: Value
  readonly path: Path
  readonly whole: WrittenBody
  /** Writes another value in the same format. */
  readonly rewrite: (value: Value) => WrittenBody | undefined
}

/** Records which values leave the body together with the field, or the reason why the field is not in it. */
function compare(cell: Cell, { value, path, whole, rewrite }: Probe): void {
  const { losses } = whole
  const lost = losses.filter(loss => path.length <= loss.path.length && path.every((key, at) => loss.path[at] === key))
  for (const { reason, path: at } of lost) if (at.length === path.length) cell.reasons.add(reason)
  if (cell.places?.length === 1) return
  const without = rewrite(removed(value as unknown as Json, path) as unknown as Value)
  if (without === undefined) return
  const places = new Set<string>()
  for (const [leaf, count] of whole.leaves) {
    if (count > (without.leaves.get(leaf) ?? 0)) places.add(leaf.slice(0, leaf.indexOf('=')))
  }
  if (places.size > 0 && places.size < (cell.places?.length ?? 9)) cell.places = [...places].sort()
}

function cellOf(rows: Map<string, Map<string, Cell>>, field: string, format: string): Cell {
  const row = rows.get(field) ?? new Map<string, Cell>()
  rows.set(field, row)
  const cell = row.get(format) ?? { places: undefined, reasons: new Set() }
  row.set(format, cell)
  return cell
}

function requestAs(format: string, request: CanonicalRequest): WrittenBody | undefined {
  try {
    const { wire, losses } = WRITERS[format]!.request!(handedTo(format, request), FOREIGN)
    const leaves = new Map<string, number>()
    countLeaves(leaves, '', plain({ path: wire.path, ...(wire.body as object) }) as Json)
    for (const { name } of wire.files ?? []) countLeaves(leaves, `.${name}`, 'file')
    return { leaves, losses }
  } catch {
    return undefined
  }
}

function resultAs(format: string, result: CanonicalResult, asked: CanonicalRequest): WrittenBody | undefined {
  try {
    const { wire, losses } = WRITERS[format]!.result!(result, asked)
    const leaves = new Map<string, number>()
    countLeaves(leaves, '', plain(wire.body) as Json)
    return { leaves, losses }
  } catch {
    return undefined
  }
}

/** Counts `path=value` of every leaf of the body. All items of a list share a path. */
function countLeaves(leaves: Map<string, number>, place: string, value: Json): void {
  if (Array.isArray(value)) for (const one of value) countLeaves(leaves, `${place}[]`, one)
  else if (isObject(value)) for (const [key, one] of Object.entries(value)) countLeaves(leaves, `${place}.${key}`, one)
  else {
    const leaf = `${place.slice(1)}=${JSON.stringify(value)}`
    leaves.set(leaf, (leaves.get(leaf) ?? 0) + 1)
  }
}

/** Returns every field of a value, named without indexes. Parts of a message are named by type. */
function occurrencesIn(value: Value): readonly Occurrence[] {
  const found: Occurrence[] = []
  collect(found, '', [], value as unknown as Json)
  return found
}

function collect(found: Occurrence[], name: string, path: Path, value: Json): void {
  if (Array.isArray(value)) {
    value.forEach((one, index) => {
      const kind = isObject(one) && typeof one['type'] === 'string' ? `(${one['type']})` : ''
      const inner = kind === '' ? `${name}[]` : kind
      if (kind !== '') found.push({ field: inner, path: [...path, index] })
      collect(found, inner, [...path, index], one)
    })
  } else if (isObject(value) && !ArrayBuffer.isView(value) && Object.getPrototypeOf(value) === Object.prototype) {
    for (const [key, one] of Object.entries(value as JsonObject)) {
      if (SKIPPED.has(key)) continue
      const field = name === '' ? key : `${name}.${key}`
      found.push({ field, path: [...path, key] })
      if (!FREE.has(key)) collect(found, field, [...path, key], one)
    }
  }
}

/** Fields with free JSON, whose content is no field of a request. */
const FREE: ReadonlySet<string> = new Set(['metadata', 'schema', 'parameters', 'data', 'source', 'signature'])

/** Returns the fields that some value lacks. Only these can be removed. */
function optionalFields(values: readonly Value[]): ReadonlySet<string> {
  const parents = new Map<string, number>()
  const fields = new Map<string, number>()
  const count = (map: Map<string, number>, key: string) => map.set(key, (map.get(key) ?? 0) + 1)
  for (const value of values) {
    count(parents, '')
    for (const { field } of occurrencesIn(value)) {
      count(parents, field)
      count(fields, field)
    }
  }
  const parentOf = (field: string) => field.slice(0, Math.max(field.lastIndexOf('.'), 0))
  return new Set(
    [...fields]
      .filter(([field, times]) => /\)$|\]$/.test(field) || times < (parents.get(parentOf(field)) ?? 0))
      .map(([field]) => field),
  )
}

/** Returns a copy without the value at the path. */
function removed(value: Json, [key, ...rest]: Path): Json {
  if (Array.isArray(value)) {
    return rest.length === 0
      ? value.filter((_, index) => index !== key)
      : value.map((one, index) => (index === key ? removed(one, rest) : one))
  }
  const { [String(key)]: inner, ...others } = value as JsonObject
  return rest.length === 0 ? others : { ...(value as JsonObject), [String(key)]: removed(inner!, rest) }
}
