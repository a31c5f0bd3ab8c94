import type { Path } from '../canonical/loss.ts'
import { isObject, type Json } from '../canonical/node.ts'

/** Returns the value at a path, or undefined if there is none. */
export function at(value: unknown, path: Path): unknown {
  let found = value
  for (const step of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) return undefined
    found = (found as { readonly [step: string]: unknown })[step]
  }
  return found
}

/** Returns the longest part of the path that exists in the value. */
export function existing(value: unknown, path: Path): Path {
  let found = value
  for (const [index, step] of path.entries()) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) return path.slice(0, index)
    found = (found as { readonly [step: string]: unknown })[step]
  }
  return path
}

/**
 * Returns a copy with another value at the path. If `by` is undefined, the value is removed and later list items move
 * up.
 */
export function replaced(value: Json, path: Path, by: Json | undefined): Json {
  const [step, ...rest] = path
  if (step === undefined) return by ?? null
  if (Array.isArray(value)) {
    const copy = [...(value as readonly Json[])]
    const index = Number(step)
    if (rest.length > 0) copy[index] = replaced(copy[index]!, rest, by)
    else if (by === undefined) copy.splice(index, 1)
    else copy[index] = by
    return copy
  }
  if (!isObject(value)) return value
  if (rest.length === 0 && by === undefined) {
    const { [String(step)]: _, ...others } = value
    return others
  }
  return { ...value, [step]: rest.length === 0 ? by! : replaced(value[String(step)]!, rest, by) }
}

/** Formats a path as a JSON pointer (RFC 6901). */
export const pointerOf = (path: Path): string =>
  path.map(step => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

/** Returns true if lists and objects are nested more than `most` levels deep. */
export function isDeeper(value: unknown, most: number): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > most) return true
    level = level.flatMap(one => (typeof one === 'object' && one !== null ? Object.values(one) : []))
  }
  return false
}
