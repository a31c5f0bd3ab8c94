import { isDeepStrictEqual } from 'node:util'
import type { Path } from '../canonical/loss.ts'
import { isObject, type Json } from '../canonical/node.ts'
import type { Pace } from './pace.ts'
import { at, existing, replaced } from './pointer.ts'

/** A value that was read from another, and how. */
export interface Reading {
  /** What the text is, as JSON. */
  readonly source: Json
  /** What was read from it. */
  readonly value: unknown
  /** Reads a changed source. Throws where that is malformed. */
  readonly read: (source: Json) => unknown
  /** The part of the source that stands for all of the value. */
  readonly root: Path
  /** The part of the source that the format's own layout gives for a place of the value; the root where it gives none. */
  readonly near: (path: Path) => Path
  /** That takes a reading of all of the source. */
  readonly isSlow?: true
}

/** Events of a stream in which a place is not searched any closer than its event. */
const LONG = 300

/** Changed sources that are read for one place, at most. */
const MOST_READINGS = 200

type Effect = 'gone' | 'changed' | 'same' | 'malformed'

/**
 * Finds which part of a source a place of what was read from it comes from. No reader has to record that: a part of the
 * source is where a place comes from if the place differs as soon as the part is taken away.
 */
export class Origins {
  private readonly reading: Reading
  private readonly pace: Pace
  /** What was found for places, which several searches may ask for. */
  private readonly found = new Map<string, Promise<Path | undefined>>()
  private left = 0

  constructor(reading: Reading, pace: Pace) {
    this.reading = reading
    this.pace = pace
  }

  /** The smallest part of the source that has the place; undefined where nothing in the source is known to. */
  find(place: Path): Promise<Path | undefined> {
    return this.found.getOrInsertComputed(JSON.stringify(place), () => this.search(place))
  }

  private async search(place: Path): Promise<Path | undefined> {
    const { source, value, near, root, isSlow } = this.reading
    const path = existing(value, place)
    if (path.length === 0) return undefined
    this.left = MOST_READINGS
    await this.pace.step()
    let found = isSlow === true && this.pace.over ? root : existing(source, near(path))
    const isLong = isSlow === true && (source as readonly Json[]).length > LONG
    if (path.length === place.length && !isLong)
      for (let next: Path | undefined = found; next !== undefined; next = await this.within(found, path)) found = next
    // What the value does not have is at most near the item of a list that surrounds it.
    else if (path.length < place.length && !path.some(step => typeof step === 'number')) return undefined
    return found.length <= root.length ? undefined : found
  }

  /** No further source is read: the search stays where it is. */
  private get isSpent(): boolean {
    return this.left <= 0 || this.pace.over
  }

  private async within(node: Path, place: Path): Promise<Path | undefined> {
    if (this.isSpent) return undefined
    const value = at(this.reading.source, node)
    const wanted = at(this.reading.value, place)
    if (typeof wanted === 'object' && isDeepStrictEqual(value, wanted)) return undefined
    const child = Array.isArray(value)
      ? await this.item(node, value.length, place)
      : isObject(value)
        ? await this.field(node, value, place)
        : undefined
    return child === undefined ? undefined : [...node, child]
  }

  /** Taking an item away moves up those behind it: the last whose absence changes anything is the one. */
  private async item(node: Path, length: number, place: Path): Promise<number | undefined> {
    const affects = async (index: number) => index < length && (await this.without([...node, index], place)) !== 'same'
    for (const step of place.toReversed())
      if (typeof step === 'number' && step < length && (await affects(step)) && !(await affects(step + 1))) return step
    for (let index = length - 1; index >= 0 && !this.isSpent; index--) if (await affects(index)) return index
    return undefined
  }

  private async field(node: Path, value: object, place: Path): Promise<string | undefined> {
    const fields = Object.keys(value)
    const wanted = at(this.reading.value, place)
    // A field whose absence leaves the rest of an object is only a part of where that comes from.
    const isHolder = (effect: Effect): boolean => effect === 'gone' || (effect === 'changed' && !isObject(wanted))
    for (const name of namesakes(fields, place)) {
      const effect = await this.without([...node, name], place)
      const isOwn = plainName(name) === plainName(String(place.at(-1)))
      if (isHolder(effect) || (isOwn && effect === 'malformed')) return name
    }
    const effects = new Map<string, Effect>()
    for (const name of fields) {
      if (this.isSpent) break
      effects.set(name, await this.without([...node, name], place))
    }
    const isTop = node.length <= this.reading.root.length
    // An object that several fields affect comes from all of them.
    if (!isTop && typeof wanted === 'object' && [...effects.values()].filter(one => one !== 'same').length > 1)
      return undefined
    const plain = fields.filter(name => !STRUCTURAL.has(name))
    const isRequired = (effect: Effect): boolean => effect === 'malformed'
    const some =
      [
        plain.filter(name => isHolder(effects.get(name)!)),
        plain.filter(name => isRequired(effects.get(name)!)),
        fields.filter(name => isHolder(effects.get(name)!)),
      ].find(one => one.length > 0) ?? []
    if (some.length === 1) return some[0]
    const equal = some.find(name => isDeepStrictEqual((value as { [name: string]: unknown })[name], wanted))
    // Below the top, what comes from several fields comes from what surrounds them.
    return equal ?? (isTop ? some[0] : undefined)
  }

  /** What becomes of the place without a part of the source, or with another value there where it is required. */
  private async without(part: Path, place: Path): Promise<Effect> {
    const taken = await this.effect(part, place, undefined)
    return taken === 'malformed' ? this.effect(part, place, other(at(this.reading.source, part) as Json)) : taken
  }

  private async effect(part: Path, place: Path, by: Json | undefined): Promise<Effect> {
    if (this.isSpent) return 'same'
    this.left--
    await this.pace.step()
    const { source, value, read } = this.reading
    try {
      const left = at(read(replaced(source, part, by)), place)
      return left === undefined ? 'gone' : isDeepStrictEqual(left, at(value, place)) ? 'same' : 'changed'
    } catch {
      return 'malformed'
    }
  }
}

/** Fields that determine what an object is: they affect everything in it. */
const STRUCTURAL: ReadonlySet<string> = new Set(['type', 'object', 'role'])

/** Fields that are called like a step of the place, the last steps first; then those whose names begin alike. */
const namesakes = (fields: readonly string[], place: Path): readonly string[] => {
  const steps = place
    .toReversed()
    .filter(step => typeof step === 'string')
    .map(plainName)
  const alike = (step: string, field: string): boolean =>
    step.length >= 4 && field.length >= 4 && (step.startsWith(field) || field.startsWith(step))
  return [
    ...steps.flatMap(step => fields.filter(field => plainName(field) === step)),
    ...steps.flatMap(step => fields.filter(field => plainName(field) !== step && alike(step, plainName(field)))),
  ]
}

const plainName = (name: string): string => name.replaceAll(/[_-]/g, '').toLowerCase()

function other(value: Json): Json {
  if (typeof value === 'string') return `${value}x`
  if (typeof value === 'number') return value + 1
  if (typeof value === 'boolean') return !value
  return Array.isArray(value) ? [] : value === null ? 'x' : {}
}
