import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'

/** JSON Schema keywords whose value is a schema. */
const SCHEMA_KEYWORDS = [
  ...(['items', 'additionalProperties', 'not', 'contains', 'propertyNames', 'if', 'then', 'else'] as const),
  ...(['unevaluatedItems', 'unevaluatedProperties', 'additionalItems', 'contentSchema'] as const),
] as const
/** JSON Schema keywords whose value is a list of schemas. That of `items` is in older drafts. */
const SCHEMA_LIST_KEYWORDS = ['anyOf', 'oneOf', 'allOf', 'prefixItems', 'items'] as const
/** JSON Schema keywords whose value is an object of schemas by name. */
const SCHEMA_MAP_KEYWORDS = [
  ...(['properties', '$defs', 'definitions', 'patternProperties', 'dependentSchemas', 'dependencies'] as const),
] as const

/** Applies `change` to every subschema, innermost first. Returns the same object if nothing has changed. */
export function eachSchema(schema: JsonObject, change: (schema: JsonObject) => JsonObject): JsonObject {
  let out = schema
  const one = (value: Json): Json => (isObject(value) ? eachSchema(value, change) : value)
  const set = (key: string, value: Json): void => {
    if (value !== schema[key]) out = { ...out, [key]: value }
  }
  for (const key of SCHEMA_KEYWORDS) if (schema[key] !== undefined) set(key, one(schema[key]))
  for (const key of SCHEMA_LIST_KEYWORDS) {
    const list = schema[key]
    if (Array.isArray(list)) set(key, sameOr(list, list.map(one)))
  }
  for (const key of SCHEMA_MAP_KEYWORDS) {
    const named = schema[key]
    if (!isObject(named)) continue
    const names = Object.keys(named)
    const schemas = names.map(name => one(named[name]!))
    if (schemas.some((value, index) => value !== named[names[index]!]))
      set(key, Object.fromEntries(schemas.map((value, index) => [names[index], value])))
  }
  return change(out)
}

const sameOr = (before: readonly Json[], after: readonly Json[]): readonly Json[] =>
  after.every((value, index) => value === before[index]) ? before : after
