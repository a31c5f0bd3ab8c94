import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'

/* Google's own schema dialect, a subset of OpenAPI's with type names in upper case (FORMATS §7, trap 55). */

const COUNTS = new Set(['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties'])
const SCHEMAS = new Set(['items', 'additionalProperties', 'not'])
const LISTS = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])
const MAPS = new Set(['properties', '$defs', 'defs', 'definitions'])

/** Protobuf's snake_case names of the keywords (trap 104). */
const SNAKE: ReadonlyMap<string, string> = new Map([
  ...[...COUNTS, 'additionalProperties', 'anyOf', 'oneOf', 'allOf', 'prefixItems', 'propertyOrdering'].map(
    name => [name.replace(/[A-Z]/, letter => `_${letter.toLowerCase()}`), name] as const,
  ),
])

/** The schema as JSON Schema: type names in lower case, `nullable` as a type, counts written as texts as numbers. */
export function jsonSchemaOf(schema: JsonObject): JsonObject {
  const entries = Object.entries(schema)
    .map(([key, value]) => [SNAKE.get(key) ?? key, value] as const)
    .filter(([key]) => key !== 'nullable' && key !== 'propertyOrdering')
    .map(([key, value]) => [key, keyword(key, value)] as const)
  const plain: JsonObject = Object.fromEntries(entries)
  return schema['nullable'] === true ? nullable(plain) : plain
}

function keyword(key: string, value: Json): Json {
  if (key === 'type') return typeOf(value)
  if (COUNTS.has(key) && typeof value === 'string' && /^\d+$/.test(value)) return Number(value)
  if (SCHEMAS.has(key) && isObject(value)) return jsonSchemaOf(value)
  if (LISTS.has(key) && Array.isArray(value)) return value.map(one => (isObject(one) ? jsonSchemaOf(one) : one))
  if (MAPS.has(key) && isObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [name, isObject(one) ? jsonSchemaOf(one) : one]),
    )
  return value
}

const typeOf = (type: Json): Json =>
  typeof type === 'string' ? type.toLowerCase() : Array.isArray(type) ? type.map(typeOf) : type

function nullable(schema: JsonObject): JsonObject {
  const { type, enum: values } = schema
  if (typeof type !== 'string') return { anyOf: [schema, { type: 'null' }] }
  return { ...schema, type: [type, 'null'], ...(Array.isArray(values) ? { enum: [...values, null] } : {}) }
}
