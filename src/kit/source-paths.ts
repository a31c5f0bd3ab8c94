import { isDeepStrictEqual } from 'node:util'
import type { Path } from '../canonical/loss.ts'
import { isObject, type Json } from '../canonical/node.ts'
import type { Pace } from './pace.ts'
import { existing, valueAt, withValueAt } from './pointer.ts'

/** A canonical value, the JSON it was read from, and the function that reads it. */
export interface Reading {
  /** The text as JSON. */
  readonly source: Json
  /** The canonical value read from the source. */
  readonly value: unknown
  /** Reads a changed source. Throws if it is malformed. */
  readonly read: (source: Json) => unknown
  /** Path, within the source, to the part that contains the complete value. */
  readonly root: Path
  /** Maps a canonical path to the nearest wire path according to the format's layout, or to the root without one. */
  readonly nearest: (path: Path) => Path
  /** True if each search reads the entire source, as for streams. */
  readonly isSlow?: true
}

/** Maximum number of events for a search inside events. In longer streams, a search returns the whole event. */
const MAX_SEARCHED_EVENTS = 300

/** Maximum number of changed sources that one search reads. */
const MAX_READINGS = 200

/** The effect of removing a wire field on a canonical path. */
type Effect = 'gone' | 'changed' | 'same' | 'malformed'

/**
 * Finds the wire field behind a canonical path by experiment: removes a wire field, reads again, and checks whether the
 * value at the path changed. Readers therefore need not record the sources of their values.
 */
export class SourcePaths {
  private readonly reading: Reading
  private readonly pace: Pace
  /** Results by path. Several searches may request the same path. */
  private readonly results = new Map<string, Promise<Path | undefined>>()
  private readingsLeft = 0

  constructor(reading: Reading, pace: Pace) {
    this.reading = reading
    this.pace = pace
  }

  /** Returns the path of the smallest wire value that the canonical path comes from, or undefined if none is found. */
  find(canonicalPath: Path): Promise<Path | undefined> {
    return this.results.getOrInsertComputed(JSON.stringify(canonicalPath), () => this.search(canonicalPath))
  }

  private async search(canonicalPath: Path): Promise<Path | undefined> {
    const { source, value, nearest, root, isSlow } = this.reading
    const path = existing(value, canonicalPath)
    if (path.length === 0) return undefined
    this.readingsLeft = MAX_READINGS
    await this.pace.step()
    let found = isSlow === true && this.pace.isOver ? root : existing(source, nearest(path))
    const isLong = isSlow === true && (source as readonly Json[]).length > MAX_SEARCHED_EVENTS
    if (path.length === canonicalPath.length && !isLong)
      for (let next: Path | undefined = found; next !== undefined; next = await this.sourceChild(found, path))
        found = next
    // If there is no value at the path, the closest source is the list item that would contain it.
    else if (path.length < canonicalPath.length && !path.some(step => typeof step === 'number')) return undefined
    return found.length <= root.length ? undefined : found
  }

  /** True if the search must end because its readings or its time are used up. */
  private get isSpent(): boolean {
    return this.readingsLeft <= 0 || this.pace.isOver
  }

  /**
   * Returns the path of the child of `node` that the canonical path comes from, or undefined if `node` itself is the
   * smallest.
   */
  private async sourceChild(node: Path, canonicalPath: Path): Promise<Path | undefined> {
    if (this.isSpent) return undefined
    const value = valueAt(this.reading.source, node)
    const targetValue = valueAt(this.reading.value, canonicalPath)
    if (typeof targetValue === 'object' && isDeepStrictEqual(value, targetValue)) return undefined
    const child = Array.isArray(value)
      ? await this.item(node, value.length, canonicalPath)
      : isObject(value)
        ? await this.field(node, value, canonicalPath)
        : undefined
    return child === undefined ? undefined : [...node, child]
  }

  /**
   * Finds the list item: the last item whose removal has an effect. Removing an item shifts the later ones, so removing
   * any item up to the wanted one has an effect.
   */
  private async item(node: Path, length: number, canonicalPath: Path): Promise<number | undefined> {
    const affects = async (index: number) =>
      index < length && (await this.removalEffect([...node, index], canonicalPath)) !== 'same'
    for (const step of canonicalPath.toReversed())
      if (typeof step === 'number' && step < length && (await affects(step)) && !(await affects(step + 1))) return step
    for (let index = length - 1; index >= 0 && !this.isSpent; index--) if (await affects(index)) return index
    return undefined
  }

  private async field(node: Path, value: object, canonicalPath: Path): Promise<string | undefined> {
    const fields = Object.keys(value)
    const targetValue = valueAt(this.reading.value, canonicalPath)
    // A field whose removal merely changes an object is only part of the object's source.
    const isHolder = (effect: Effect): boolean => effect === 'gone' || (effect === 'changed' && !isObject(targetValue))
    for (const name of namesakes(fields, canonicalPath)) {
      const effect = await this.removalEffect([...node, name], canonicalPath)
      const hasSameName = plainName(name) === plainName(String(canonicalPath.at(-1)))
      if (isHolder(effect) || (hasSameName && effect === 'malformed')) return name
    }
    const effects = new Map<string, Effect>()
    for (const name of fields) {
      if (this.isSpent) break
      effects.set(name, await this.removalEffect([...node, name], canonicalPath))
    }
    const isTop = node.length <= this.reading.root.length
    // An object that several fields affect comes from the entire node.
    if (!isTop && typeof targetValue === 'object' && [...effects.values()].filter(one => one !== 'same').length > 1)
      return undefined
    const plain = fields.filter(name => !STRUCTURAL.has(name))
    const isRequired = (effect: Effect): boolean => effect === 'malformed'
    const matches =
      [
        plain.filter(name => isHolder(effects.get(name)!)),
        plain.filter(name => isRequired(effects.get(name)!)),
        fields.filter(name => isHolder(effects.get(name)!)),
      ].find(one => one.length > 0) ?? []
    if (matches.length === 1) return matches[0]
    const equal = matches.find(name => isDeepStrictEqual((value as { [name: string]: unknown })[name], targetValue))
    // Below the top, a value that depends on several fields comes from the node that contains them.
    return equal ?? (isTop ? matches[0] : undefined)
  }

  /** Returns the effect of removing a wire value, or of changing it if it is required. */
  private async removalEffect(part: Path, canonicalPath: Path): Promise<Effect> {
    const effect = await this.effect(part, canonicalPath, undefined)
    return effect === 'malformed'
      ? this.effect(part, canonicalPath, differentValue(valueAt(this.reading.source, part) as Json))
      : effect
  }

  private async effect(part: Path, canonicalPath: Path, by: Json | undefined): Promise<Effect> {
    if (this.isSpent) return 'same'
    this.readingsLeft--
    await this.pace.step()
    const { source, value, read } = this.reading
    try {
      const remaining = valueAt(read(withValueAt(source, part, by)), canonicalPath)
      return remaining === undefined
        ? 'gone'
        : isDeepStrictEqual(remaining, valueAt(value, canonicalPath))
          ? 'same'
          : 'changed'
    } catch {
      return 'malformed'
    }
  }
}

/** Fields that determine the type of an object and therefore affect everything in it. */
const STRUCTURAL: ReadonlySet<string> = new Set(['type', 'object', 'role'])

/**
 * Returns the fields with the name of a step of the path, from the last step to the first, then fields with a similar
 * name.
 */
const namesakes = (fields: readonly string[], canonicalPath: Path): readonly string[] => {
  const steps = canonicalPath
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

/** Returns a different value of the same JSON type. */
function differentValue(value: Json): Json {
  if (typeof value === 'string') return `${value}x`
  if (typeof value === 'number') return value + 1
  if (typeof value === 'boolean') return !value
  return Array.isArray(value) ? [] : value === null ? 'x' : {}
}
