import type { Json, JsonObject } from '../../src/canonical/node.ts'

export interface PathsOptions {
  /** Maximum length of a path, in steps. */
  readonly deep?: number
  /** Maximum number of fields or items of each value that are visited. */
  readonly wide?: number
}

/** Yields the paths to all values within a value, outer ones first. */
export function* pathsOf(
  value: Json | undefined,
  options: PathsOptions = {},
  path: readonly string[] = [],
): Generator<readonly string[]> {
  const { deep = Number.POSITIVE_INFINITY, wide = Number.POSITIVE_INFINITY } = options
  if (path.length > 0) yield path
  if (typeof value !== 'object' || value === null || path.length >= deep) return
  for (const [name, inner] of Object.entries(value).slice(0, wide)) yield* pathsOf(inner, options, [...path, name])
}

/** Returns a copy of a value with another value at a path. Undefined removes the value at the path. */
export function withValueAt(value: Json, [name, ...rest]: readonly string[], other: Json | undefined): Json {
  if (name === undefined) return other as Json
  const copy = Array.isArray(value) ? [...value] : { ...(value as JsonObject) }
  const fields = copy as { [name: string]: Json }
  fields[name] = withValueAt(fields[name]!, rest, other)
  return copy as Json
}
