import type { Json, JsonObject } from '../../src/canonical/node.ts'

export interface PathsOptions {
  /** Steps of the longest path. */
  readonly deep?: number
  /** Fields or items of each value that are entered. */
  readonly wide?: number
}

/** The paths to all values within a value, those of outer ones first. */
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

/** A copy of a value in which another stands at a path; undefined leaves out what stood there. */
export function withValueAt(value: Json, [name, ...rest]: readonly string[], other: Json | undefined): Json {
  if (name === undefined) return other as Json
  const copy = Array.isArray(value) ? [...value] : { ...(value as JsonObject) }
  const fields = copy as { [name: string]: Json }
  fields[name] = withValueAt(fields[name]!, rest, other)
  return copy as Json
}
