import type { Json, JsonObject } from '../../canonical/node.ts'
import { withoutDeadReferences } from './dead-references.ts'
import { eachSchema } from './each-schema.ts'
import { withSoundKeywords } from './sound-keywords.ts'

/*
 * Keywords of JSON Schema whose form changed. Claude and others check schemas against the draft of 2020-12: "JSON schema
 * is invalid. It must match JSON Schema draft 2020-12" (Dokploy/mcp#74; anomalyco/opencode#39120, read on 2026-12-01).
 * Converters of Zod and OpenAPI still write the older forms.
 */

/**
 * Returns the schema in the form of the draft of 2020-12, with references that it resolves itself. The same object if
 * nothing has changed.
 */
export const withCurrentKeywords = (schema: JsonObject): JsonObject =>
  withSoundKeywords(eachSchema(withoutDeadReferences(schema), current))

function current(schema: JsonObject): JsonObject {
  const bounded = BOUNDS.reduce(withNumericBound, schema)
  return Array.isArray(bounded['items']) ? withPrefix(bounded, bounded['items']) : bounded
}

/** Bounds that were a boolean beside another bound before draft 6. */
const BOUNDS = [
  ['exclusiveMinimum', 'minimum'],
  ['exclusiveMaximum', 'maximum'],
] as const

function withNumericBound(schema: JsonObject, [exclusive, inclusive]: (typeof BOUNDS)[number]): JsonObject {
  const { [exclusive]: isExclusive, ...others } = schema
  if (typeof isExclusive !== 'boolean') return schema
  const { [inclusive]: bound, ...unbounded } = others
  return isExclusive && bound !== undefined ? { ...unbounded, [exclusive]: bound } : others
}

/**
 * Writes the schemas of a list's first members, which were a list in `items`, as `prefixItems`. That keyword may not be
 * empty, as `items` of an empty tuple of Zod is.
 */
function withPrefix(schema: JsonObject, first: readonly Json[]): JsonObject {
  const { items: _, additionalItems: rest, ...others } = schema
  return {
    ...others,
    ...(first.length === 0 ? {} : { prefixItems: first }),
    ...(rest === undefined ? {} : { items: rest }),
  }
}
