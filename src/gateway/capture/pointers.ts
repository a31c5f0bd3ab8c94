import { setImmediate as breath } from 'node:timers/promises'
import type { Loss, Path } from '../../canonical/loss.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { READERS } from '../../ingress/index.ts'
import type { CapturedLoss } from './document.ts'
import type { Scrub } from './secrets.ts'

/** Characters of a body that is read again and again to find out where something stands. */
const LARGEST = 256 * 1024
/** Times it is read. */
const MOST_READS = 300
const MOST_LOSSES = 500

/**
 * Finds where in a caller's body a loss stands. Paths into messages are located by the reader; for any other the body is
 * read without one field after the other: the field without which the lost value is not there is its place.
 */
export class Pointers {
  private readonly format: string
  private readonly wire: WireRequest | undefined
  private readonly request: CanonicalRequest | undefined
  private readonly known = new Map<string, Promise<Path | undefined>>()
  private readonly readings = new Map<string, unknown>()
  private isSmall: boolean | undefined

  constructor(format: string, wire: WireRequest | undefined, request: CanonicalRequest | undefined) {
    this.format = format
    this.wire = wire
    this.request = request
  }

  /**
   * The JSON pointers of losses in the body, undefined for those that have no place there.
   *
   * @param losses at their places in the canonical request.
   * @param located the same at their places in the body, as far as the reader locates them.
   */
  async of(losses: readonly Loss[], located: readonly Loss[]): Promise<readonly (string | undefined)[]> {
    const found: (string | undefined)[] = []
    for (const [index, { path }] of losses.slice(0, MOST_LOSSES).entries()) {
      const place = await this.placeOf(path, located[index]?.path ?? path)
      found.push(place === undefined ? undefined : pointerOf(place))
    }
    return found
  }

  private async placeOf(path: Path, located: Path): Promise<Path | undefined> {
    if (this.wire === undefined) return undefined
    const direct = deepest(this.wire.body, withoutOwner(located, this.format))
    const isMessage = path[0] === 'messages'
    if (isMessage && direct.length === located.length) return direct
    const key = JSON.stringify(path)
    let place = this.known.get(key)
    if (place === undefined) this.known.set(key, (place = this.search(path, isMessage ? direct : [])))
    return (await place) ?? (direct.length === located.length ? direct : undefined)
  }

  /** The deepest place in the body, from one on, without which the value at the path would be another. */
  private async search(path: Path, from: Path): Promise<Path | undefined> {
    if (this.request === undefined || !this.mayRead) return from.length === 0 ? undefined : from
    let place = from
    for (;;) {
      const next = await this.inside(place, path)
      if (next !== undefined) place = next.place
      if (next === undefined || next.isAlone) return place.length === 0 ? undefined : place
    }
  }

  /** The child of a place without which the value would be another: best one that changes nothing else beside it. */
  private async inside(
    place: Path,
    path: Path,
  ): Promise<{ readonly place: Path; readonly isAlone: boolean } | undefined> {
    const value = JSON.stringify(valueAt(this.request, path))
    const beside = besides(this.request, path)
    let found: Path | undefined
    for (const step of childrenOf(valueAt(this.wire!.body, place))) {
      const child = [...place, step]
      const without = await this.readWithout(child)
      if (without === UNREADABLE || JSON.stringify(valueAt(without, path)) === value) continue
      if (besides(without, path) === beside) return { place: child, isAlone: true }
      found ??= child
    }
    return found && { place: found, isAlone: false }
  }

  private get mayRead(): boolean {
    this.isSmall ??= JSON.stringify(this.wire!.body).length <= LARGEST
    return this.isSmall && this.wire!.files === undefined
  }

  /** The request that the body would be without what stands at the place. */
  private async readWithout(place: Path): Promise<unknown> {
    const key = pointerOf(place)
    const known = this.readings.get(key)
    if (known !== undefined) return known
    if (this.readings.size >= MOST_READS) return UNREADABLE
    await breath()
    let read: unknown = UNREADABLE
    try {
      const body = without(this.wire!.body, place) as JsonObject
      read = READERS[this.format]!.request!({ ...this.wire!, body })
    } catch {
      // A field that must be there is not what was lost.
    }
    this.readings.set(key, read)
    return read
  }
}

const UNREADABLE = Symbol('unreadable')

/** `extras` of the caller's own format are fields of its body. */
function withoutOwner(path: Path, format: string): Path {
  const at = path.indexOf('extras')
  return at >= 0 && path[at + 1] === format ? [...path.slice(0, at), ...path.slice(at + 2)] : path
}

/** As much of a path as there is in a value. */
function deepest(value: unknown, path: Path): Path {
  let at: unknown = value
  for (const [depth, step] of path.entries()) {
    const next = (isObject(at) || Array.isArray(at)) && Object.hasOwn(at, step) ? (at as JsonObject)[step] : undefined
    if (next === undefined) return path.slice(0, depth)
    at = next
  }
  return path
}

const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (at, step) => (typeof at === 'object' && at !== null ? (at as { [step: string]: unknown })[step] : undefined),
    value,
  )

/** What stands in the same object as the value. */
function besides(value: unknown, path: Path): string {
  const { [path.at(-1)!]: _, ...others } = (valueAt(value, path.slice(0, -1)) ?? {}) as JsonObject
  return JSON.stringify(others)
}

/** What has more children is a place itself. In lists the last come first: without one, those behind it move up. */
const MOST_CHILDREN = 64

function childrenOf(value: unknown): (string | number)[] {
  if (Array.isArray(value)) return value.length > MOST_CHILDREN ? [] : [...value.keys()].reverse()
  if (!isObject(value)) return []
  const names = Object.keys(value)
  return names.length > MOST_CHILDREN ? [] : names
}

function without(value: Json, [step, ...rest]: Path): Json {
  if (Array.isArray(value))
    return rest.length === 0
      ? value.filter((_, index) => index !== step)
      : value.map((item: Json, index) => (index === step ? without(item, rest) : item))
  const { [step!]: item, ...others } = value as JsonObject
  return rest.length === 0 ? others : { ...(value as JsonObject), [step!]: without(item!, rest) }
}

/** A JSON pointer (RFC 6901). */
export const pointerOf = (path: Path): string =>
  path.map(step => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

/** Losses as they are shown. */
export const lossViews = (
  losses: readonly Loss[],
  pointers: readonly (string | undefined)[],
  scrub: Scrub,
): CapturedLoss[] =>
  losses.slice(0, MOST_LOSSES).map(({ kind, reason, path, restored }, index) => ({
    ...{ kind, reason: scrub(reason), path: path.map(step => (typeof step === 'string' ? scrub(step) : step)) },
    ...(pointers[index] === undefined ? {} : { pointer: scrub(pointers[index]) }),
    ...(restored === true ? { restored } : {}),
  }))
