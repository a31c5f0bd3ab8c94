import type { JsonSchema } from '../../config/schema.ts'

/** Formats of OpenAPI by type, for the numbers that JavaScript has. */
const FORMATS: { readonly [type: string]: string } = { number: 'double', integer: 'int64' }

/**
 * Adds `format` to each number of an OpenAPI description. Without it, generators of Go clients read numbers as `float32`,
 * which keeps seven digits (oapi-codegen 2.8.2), and those of Java clients read integers as 32 bits.
 */
export function withNumberFormats(schema: JsonSchema): JsonSchema {
  const fields = Object.entries(schema).map(([name, value]) => [name, inside(value)] as const)
  const format = typeof schema['type'] === 'string' ? FORMATS[schema['type']] : undefined
  return { ...Object.fromEntries(fields), ...(format === undefined ? {} : { format }) }
}

function inside(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inside)
  return typeof value === 'object' && value !== null ? withNumberFormats(value as JsonSchema) : value
}
