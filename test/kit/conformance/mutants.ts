import { isObject, type Json, type JsonObject, objectOf, parseJson } from '../../../src/kit/conformance/json.ts'

/* Faults that a gateway may have, generated from its messages: one change in one place. */

/** One changed value: the kind of the change, and its place without indexes. */
export interface Mutant<T> {
  readonly kind: string
  readonly place: string
  readonly value: T
}

/** Changes of a single value. Each is another value of the same type, or of another one. */
const CHANGES: readonly (readonly [kind: string, change: (value: Json) => Json | undefined])[] = [
  ['emptied', value => (typeof value === 'string' && value !== '' ? '' : undefined)],
  ['changed', value => changed(value)],
  ['cut', value => (typeof value === 'string' && value.length > 1 ? value.slice(0, -1) : undefined)],
  ['retyped', value => retyped(value)],
  ['null', value => (value === null ? undefined : null)],
]

function changed(value: Json): Json | undefined {
  if (typeof value === 'number') return value + 1
  if (typeof value === 'boolean') return !value
  if (typeof value === 'string' && value !== '') return `${value[0] === 'Z' ? 'Y' : 'Z'}${value.slice(1)}`
  return undefined
}

function retyped(value: Json): Json | undefined {
  if (typeof value === 'number') return String(value)
  if (typeof value === 'boolean') return String(value)
  if (typeof value === 'string') return { value }
  if (Array.isArray(value)) return value.length === 1 ? value[0]! : { items: value }
  return value === null ? undefined : JSON.stringify(value)
}

/** Returns every copy of a JSON value with one change: at itself, at a field, at an item, or in the order of items. */
export function* mutantsOf(value: Json, place = ''): Generator<Mutant<Json>> {
  for (const [kind, change] of CHANGES) {
    const other = change(value)
    if (other !== undefined) yield { kind, place, value: other }
  }
  if (Array.isArray(value)) yield* itemMutants(value as readonly Json[], `${place}[]`)
  else if (isObject(value)) yield* fieldMutants(value, place)
}

function* itemMutants(items: readonly Json[], place: string): Generator<Mutant<Json>> {
  for (const [index, item] of items.entries()) {
    const [before, after] = [items.slice(0, index), items.slice(index + 1)]
    yield { kind: 'dropped', place, value: [...before, ...after] }
    yield { kind: 'repeated', place, value: [...before, item, item, ...after] }
    const [next, ...rest] = after
    if (next !== undefined && JSON.stringify(next) !== JSON.stringify(item))
      yield { kind: 'swapped', place, value: [...before, next, item, ...rest] }
    for (const { value: one, ...mutant } of mutantsOf(item, place))
      yield { ...mutant, value: [...before, one, ...after] }
  }
}

function* fieldMutants(value: JsonObject, place: string): Generator<Mutant<Json>> {
  const fields = Object.entries(value)
  for (const [index, [name, one]] of fields.entries()) {
    const inner = `${place}.${name}`
    yield { kind: 'dropped', place: inner, value: Object.fromEntries(fields.toSpliced(index, 1)) }
    const [nextName, next] = fields[index + 1] ?? []
    if (nextName !== undefined && typeof next === typeof one && JSON.stringify(next) !== JSON.stringify(one))
      yield { kind: 'swapped', place: `${inner} and ${nextName}`, value: { ...value, [name]: next!, [nextName]: one } }
    for (const { value: other, ...mutant } of mutantsOf(one, inner))
      yield { ...mutant, value: { ...value, [name]: other } }
  }
}

/** Returns every copy of a JSON text with one change. */
export function* textMutants(text: string): Generator<Mutant<string>> {
  const json = parseJson(text)
  if (json === undefined) return
  for (const { value, ...mutant } of mutantsOf(json)) yield { ...mutant, value: JSON.stringify(value) }
  yield { kind: 'cut', place: 'text', value: text.trimEnd().slice(0, -1) }
}

/** Names an event by its type or by the fields that differ from those of its neighbours. */
function labelOf(block: string): string {
  const data = dataIn(block)
  const json = parseJson(data)
  if (!isObject(json)) return data.slice(0, 20)
  if (typeof json['type'] === 'string') {
    const inner = objectOf(json['delta'] ?? json['content_block'] ?? json['item'] ?? json['part'])['type']
    return typeof inner === 'string' ? `${json['type']}:${inner}` : json['type']
  }
  const choice = objectOf(
    (json['choices'] as Json[] | undefined)?.[0] ?? (json['candidates'] as Json[] | undefined)?.[0],
  )
  const parts = objectOf(choice['content'])['parts'] as Json[] | undefined
  const inner = Object.keys(objectOf(choice['delta'] ?? parts?.[0])).join('+')
  const end = choice['finish_reason'] ?? choice['finishReason']
  return `${inner || Object.keys(json).join('+')}${end ? ' end' : ''}`
}

const DATA_LINE = /^data: ?(.*)$/m
const dataIn = (block: string): string => DATA_LINE.exec(block)?.[1] ?? ''

/** Returns every copy of a stream in which one event is dropped, repeated, swapped or changed. */
export function* streamMutants(text: string): Generator<Mutant<string>> {
  const newline = text.includes('\r\n') ? '\r\n' : '\n'
  const blocks = text.split(newline + newline).filter(block => block !== '')
  const joined = (list: readonly string[]): string => list.map(block => block + newline + newline).join('')
  for (const [index, block] of blocks.entries()) {
    const label = labelOf(block)
    const [before, after] = [blocks.slice(0, index), blocks.slice(index + 1)]
    yield { kind: 'event dropped', place: label, value: joined([...before, ...after]) }
    yield { kind: 'event repeated', place: label, value: joined([...before, block, block, ...after]) }
    yield { kind: 'stream cut', place: `before ${label}`, value: joined(before) }
    const [next, ...rest] = after
    if (next !== undefined && next !== block)
      yield {
        kind: 'event swapped',
        place: `${label} and ${labelOf(next)}`,
        value: joined([...before, next, block, ...rest]),
      }
    const data = dataIn(block)
    if (/^event:/m.test(block)) {
      const unnamed = block.replace(/^event:.*\r?\n/m, '')
      yield { kind: 'event unnamed', place: label, value: joined([...before, unnamed, ...after]) }
      const renamed = block.replace(/^event: ?/m, 'event: x')
      yield { kind: 'event renamed', place: label, value: joined([...before, renamed, ...after]) }
    }
    for (const { value, ...mutant } of textMutants(data)) {
      const other = block.replace(DATA_LINE, () => `data: ${value}`)
      yield { ...mutant, place: `${label} ${mutant.place}`, value: joined([...before, other, ...after]) }
    }
  }
}

/** Returns copies of bytes with one change. */
export function* byteMutants(bytes: Buffer): Generator<Mutant<Buffer>> {
  if (bytes.length === 0) return
  yield { kind: 'emptied', place: 'bytes', value: Buffer.alloc(0) }
  yield { kind: 'cut', place: 'bytes', value: bytes.subarray(0, bytes.length - 1) }
  yield { kind: 'lengthened', place: 'bytes', value: Buffer.concat([bytes, Buffer.from('a')]) }
  for (const at of [0, bytes.length >> 1, bytes.length - 1]) {
    const other = Buffer.from(bytes)
    other[at] = other[at]! ^ 1
    yield { kind: 'changed', place: 'bytes', value: other }
  }
}
