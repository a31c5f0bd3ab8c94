import { isObject, type Json, type JsonObject, put } from '../../src/canonical/node.ts'
import type { Dice } from './dice.ts'
import { changedText } from './mutate-text.ts'

/*
 * Changes JSON values: their fields and items are deleted, doubled, renamed, moved, cut, wrapped, and replaced by values
 * of another type or by pieces of other inputs. A stream is a list of events, so that its order changes, too.
 */

/** What mutations draw from. */
export interface Material {
  readonly dice: Dice
  /** Words that the sources read. */
  readonly words: readonly string[]
  /** Returns another input, from which pieces are taken. */
  other(): Json
}

type Step = string | number
type Place = readonly Step[]

/** Returns a changed copy of the value, which itself stays as it is. */
export function mutated(value: Json, material: Material): Json {
  let changed = value
  do changed = mutatedOnce(changed, material)
  while (material.dice.oneIn(2))
  return changed
}

function mutatedOnce(value: Json, material: Material): Json {
  const place = randomPlace(value, material.dice)
  const before = at(value, place)
  const inside = typeof before === 'object' && before !== null ? INSIDE : SCALARS
  const change = material.dice.oneIn(3) ? material.dice.one(ANYWHERE) : material.dice.one(inside)
  if (change === remove) return place.length === 0 ? value : without(value, place)
  return withValue(value, place, change(before, material))
}

type Change = (value: Json, material: Material) => Json

/** Marks the change that removes the value itself. */
const remove: Change = value => value

/** Changes of lists and objects. */
const INSIDE: readonly Change[] = [
  (value, { dice }) => rebuilt(value, entries => doubled(entries, dice)),
  (value, { dice }) => rebuilt(value, entries => moved(entries, dice)),
  (value, { dice }) => rebuilt(value, entries => entries.slice(0, dice.below(entries.length + 1))),
  (value, { dice }) => rebuilt(value, entries => entries.slice(dice.below(entries.length + 1))),
  (value, material) => rebuilt(value, entries => grown(entries, material)),
  (value, material) => rebuilt(value, entries => grown(entries, material)),
  (value, material) => rebuilt(value, entries => renamed(entries, material)),
  (value, { dice }) => rebuilt(value, entries => repeated(entries, dice)),
]

const SCALARS: readonly Change[] = [
  (value, { dice, words }) => (typeof value === 'string' ? changedText(value, dice, words) : dice.one(RUBBISH)),
  (value, { dice }) => (typeof value === 'number' ? changedNumber(value, dice) : dice.one(TEXTS)),
  (_, { dice, words }) => (words.length === 0 ? dice.one(TEXTS) : dice.one(words)),
]

const ANYWHERE: readonly Change[] = [
  remove,
  remove,
  (_, { dice }) => dice.one(RUBBISH),
  (_, material) => piece(material),
  (_, material) => piece(material),
  value => [value],
  (value, { dice, words }) => ({ [words.length === 0 ? 'a' : dice.one(words)]: value }),
  value => (Array.isArray(value) ? (value[0] ?? null) : isObject(value) ? (Object.values(value)[0] ?? null) : value),
  (value, { dice }) => (dice.oneIn(20) ? nested(value, dice) : jsonOf(value)),
]

/** Returns the JSON text of a value, or a text without meaning if the value is nested too deeply for it. */
function jsonOf(value: Json): string {
  try {
    return JSON.stringify(value)
  } catch {
    return '[['
  }
}

const TEXTS: readonly string[] = [
  ...['', ' ', '\0', '\ud800', '\udc00x', '\u2028', '\ufeff', '🚤', 'e\u0301', '\u202e', '0', '-1', '1e400', 'null'],
  ...['constructor', '__proto__', 'toString', 'data:,', 'data:image/png;base64,', 'http://[::1]/', '{', '[DONE]'],
]

/** Names that every object inherits. */
const INHERITED: readonly string[] = ['__proto__', '__proto__', 'constructor', 'prototype', 'toString', 'valueOf']

/** A value of every type, numbers at limits, and values that look like another type. */
const RUBBISH: readonly Json[] = [
  ...[null, true, false, 0, -1, 1.5, 1e21, 2 ** 53, -(2 ** 31), 1e-7, 5e-324, 1e308],
  ...[[], [null], [[]], [{}], [''], {}, { a: null }, { type: 'text' }, { toString: 'a', length: 1 }, { length: 1e9 }],
  ...[{ polluted: 1 }, { prototype: { polluted: 1 } }],
  ...TEXTS,
]

/** Returns another number, which JSON can express. */
function changedNumber(value: number, dice: Dice): number {
  const changed = dice.one([
    -value,
    value + 1,
    value - 1,
    value * 2 ** 32,
    value / 3,
    0,
    Number.MAX_SAFE_INTEGER,
    1e308,
  ])
  return Number.isFinite(changed) ? changed + 0 : 1e308
}

const DEPTHS = [3, 30, 300, 3000, 12_000]

/** Puts the value into up to thousands of lists or objects. */
function nested(value: Json, dice: Dice): Json {
  const name = dice.oneIn(2) ? 'properties' : undefined
  let around = value
  for (let depth = dice.one(DEPTHS); depth > 0; depth--) around = name === undefined ? [around] : { [name]: around }
  return around
}

/** Returns a random piece of another input. */
function piece({ dice, other }: Material): Json {
  const value = other()
  return at(value, randomPlace(value, dice))
}

type Entry = readonly [name: Step, value: Json]

/** Changes the entries of a list or an object. */
function rebuilt(value: Json, change: (entries: readonly Entry[]) => readonly Entry[]): Json {
  if (Array.isArray(value)) return change(value.map((item, index) => [index, item])).map(([, item]) => item)
  if (!isObject(value)) return value
  const copy = {}
  for (const [name, item] of change(Object.entries(value))) put(copy, String(name), item)
  return copy
}

function doubled(entries: readonly Entry[], dice: Dice): readonly Entry[] {
  if (entries.length === 0) return entries
  const [, value] = dice.one(entries)
  const [name] = dice.one(entries)
  return entries.toSpliced(dice.below(entries.length + 1), 0, [name, value])
}

function moved(entries: readonly Entry[], dice: Dice): readonly Entry[] {
  if (entries.length < 2) return entries
  const from = dice.below(entries.length)
  return entries.toSpliced(from, 1).toSpliced(dice.below(entries.length), 0, entries[from]!)
}

function grown(entries: readonly Entry[], material: Material): readonly Entry[] {
  const { dice, words } = material
  const word = words.length === 0 || dice.oneIn(20) ? dice.one(TEXTS) : dice.one(words)
  const name = dice.oneIn(12) ? dice.one(INHERITED) : word
  const value = dice.oneIn(3)
    ? dice.one(RUBBISH)
    : dice.oneIn(2) && words.length > 0
      ? dice.one(words)
      : piece(material)
  return entries.toSpliced(dice.below(entries.length + 1), 0, [name, value])
}

function renamed(entries: readonly Entry[], { dice, words }: Material): readonly Entry[] {
  if (entries.length === 0 || words.length === 0) return entries
  const index = dice.below(entries.length)
  return entries.with(index, [dice.one(words), entries[index]![1]])
}

function repeated(entries: readonly Entry[], dice: Dice): readonly Entry[] {
  if (entries.length === 0) return entries
  const index = dice.below(entries.length)
  const copies = Array.from({ length: dice.length() }, (_, copy): Entry => [`${index}-${copy}`, entries[index]![1]])
  return entries.toSpliced(index, 0, ...copies)
}

/** Returns the path of a random value inside a value. Deep values are as likely as others. */
export function randomPlace(value: Json, dice: Dice): Place {
  const place: Step[] = []
  let inner = value
  while (typeof inner === 'object' && inner !== null && !dice.oneIn(3)) {
    const names = Object.keys(inner)
    if (names.length === 0) break
    const name = dice.one(names)
    place.push(Array.isArray(inner) ? Number(name) : name)
    inner = (inner as JsonObject)[name]!
  }
  return place
}

const at = (value: Json, place: Place): Json =>
  place.reduce<Json>((inner, step) => (inner as JsonObject)[step as string]!, value)

/** Returns a copy with another value at a path. Not recursive, because inputs may be nested thousands of times. */
export function withValue(value: Json, place: Place, other: Json): Json {
  let changed = other
  for (let length = place.length - 1; length >= 0; length--) {
    const outer = at(value, place.slice(0, length))
    const step = place[length]!
    if (Array.isArray(outer)) changed = outer.with(step as number, changed)
    else {
      const copy = {}
      for (const [name, item] of Object.entries(outer as JsonObject)) put(copy, name, name === step ? changed : item)
      changed = copy
    }
  }
  return changed
}

/** Returns a copy without the value at a path. */
export function without(value: Json, place: Place): Json {
  const outer = place.slice(0, -1)
  const step = place.at(-1)!
  return withValue(
    value,
    outer,
    rebuilt(at(value, outer), entries => entries.filter(([name]) => name !== step)),
  )
}
