import type { JsonObject } from './node.ts'

/** Returns the JSON Schema with null as an additional allowed value. */
export function orNull(schema: JsonObject): JsonObject {
  const { type, enum: values } = schema
  if (typeof type !== 'string') return { anyOf: [schema, { type: 'null' }] }
  return { ...schema, type: [type, 'null'], ...(Array.isArray(values) ? { enum: [...values, null] } : {}) }
}

/** Returns the keys to which a reference such as `#/$defs/a~1b` leads. A fragment of a URI may be percent-encoded. */
export const pointerKeys = (reference: string): readonly string[] =>
  reference
    .replace(/^#/, '')
    .split('/')
    .filter(Boolean)
    .map(step => decoded(step).replaceAll('~1', '/').replaceAll('~0', '~'))

function decoded(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}
