import type { Path } from '../canonical/loss.ts'
import { isObject, type Json } from '../canonical/node.ts'

/** Returns the value at a path, or undefined if there is none. */
export function valueAt(value: unknown, path: Path): unknown {
  let current = value
  for (const step of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, step)) return undefined
    current = (current as { readonly [step: string]: unknown })[step]
  }
  return current
}

/** Returns the longest part of the path that exists in the value. */
export function existing(value: unknown, path: Path): Path {
  let current = value
  for (const [index, step] of path.entries()) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, step)) return path.slice(0, index)
    current = (current as { readonly [step: string]: unknown })[step]
  }
  return path
}

/**
 * Returns a copy with another value at the path. If `replacement` is undefined, the value is removed and later list
 * items move up.
 */
export function withValueAt(value: Json, path: Path, replacement: Json | undefined): Json {
  const [step, ...rest] = path
  if (step === undefined) return replacement ?? null
  if (Array.isArray(value)) {
    const copy = [...(value as readonly Json[])]
    const index = Number(step)
    if (rest.length > 0) copy[index] = withValueAt(copy[index]!, rest, replacement)
    else if (replacement === undefined) copy.splice(index, 1)
    else copy[index] = replacement
    return copy
  }
  if (!isObject(value)) return value
  if (rest.length === 0 && replacement === undefined) {
    const { [String(step)]: _, ...others } = value
    return others
  }
  return { ...value, [step]: rest.length === 0 ? replacement! : withValueAt(value[String(step)]!, rest, replacement) }
}

/** Formats a path as a JSON pointer (RFC 6901). */
export const pointerOf = (path: Path): string =>
  path.map(step => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

/** Returns true if lists and objects are nested more than `maxDepth` levels deep. */
export function isDeeper(value: unknown, maxDepth: number): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) return true
    level = level.flatMap(one => (typeof one === 'object' && one !== null ? Object.values(one) : []))
  }
  return false
}
