import { isObject, type Json, type JsonObject, listOf, objectOf, textOf } from '../../json.ts'

/* Schemas in `parameters` and `responseSchema`: a subset of OpenAPI schemas. Source: docs/wire/contents.md#schemas */

const SUPPORTED_FIELDS = new Set([
  ...['type', 'format', 'title', 'description', 'nullable', 'default', 'example', 'enum', 'items', 'minItems'],
  ...['maxItems', 'properties', 'required', 'propertyOrdering', 'minProperties', 'maxProperties', 'minLength'],
  ...['maxLength', 'pattern', 'minimum', 'maximum', 'anyOf'],
])

/** Numeric keywords whose values may be strings on the wire. */
const COUNT_FIELDS = new Set(['minItems', 'maxItems', 'minProperties', 'maxProperties', 'minLength', 'maxLength'])

/** Returns one line for each field that the server refuses. */
export function subsetFaults(schema: Json | undefined): string[] {
  if (!isObject(schema)) return []
  const inner = [schema['items'], ...listOf(schema['anyOf']), ...Object.values(objectOf(schema['properties']))]
  const unsupported = Object.keys(schema).filter(field => !SUPPORTED_FIELDS.has(field))
  return [...unsupported.map(field => `${field} is not a field of the subset.`), ...inner.flatMap(subsetFaults)]
}

/** Converts a schema to JSON Schema: lower-case types, numeric counts, and `null` among the types if `nullable`. */
export function asJsonSchema(schema: Json): Json {
  if (!isObject(schema)) return schema
  const { nullable, propertyOrdering: _, ...rest } = schema
  const fields = Object.entries(rest).map(([field, value]): [string, Json] => {
    if (field === 'type') return [field, textOf(value)?.toLowerCase() ?? value]
    if (COUNT_FIELDS.has(field)) return [field, Number(value)]
    if (field === 'items') return [field, asJsonSchema(value)]
    if (field === 'anyOf') return [field, listOf(value).map(asJsonSchema)]
    if (field !== 'properties') return [field, value]
    const properties = Object.entries(objectOf(value)).map(([name, one]) => [name, asJsonSchema(one)] as const)
    return [field, Object.fromEntries(properties)]
  })
  const converted: JsonObject = Object.fromEntries(fields)
  return nullable === true && converted['type'] !== undefined
    ? { ...converted, type: [converted['type'], 'null'] }
    : converted
}
