import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'

/** Form of a keyword's value: one schema, a list of schemas, or an object of schemas by name. */
type Kind = 'schema' | 'list' | 'map'

const of = (kind: Kind, ...keywords: readonly string[]): [string, Kind][] => keywords.map(keyword => [keyword, kind])

/** JSON Schema keywords with schemas in their values. In older drafts, the value of `items` may be a list. */
const KEYWORDS: ReadonlyMap<string, Kind> = new Map([
  ...of('schema', 'items', 'additionalProperties', 'not', 'contains', 'propertyNames', 'if', 'then', 'else'),
  ...of('schema', 'unevaluatedItems', 'unevaluatedProperties', 'additionalItems', 'contentSchema'),
  ...of('list', 'anyOf', 'oneOf', 'allOf', 'prefixItems'),
  ...of('map', 'properties', '$defs', 'definitions', 'patternProperties', 'dependentSchemas', 'dependencies'),
])

/** Applies `change` to every subschema, innermost first. Returns the same object if nothing has changed. */
export function eachSchema(schema: JsonObject, change: (schema: JsonObject) => JsonObject): JsonObject {
  const one = (value: Json): Json => (isObject(value) ? eachSchema(value, change) : value)
  let out = schema
  for (const keyword of Object.keys(schema)) {
    const kind = KEYWORDS.get(keyword)
    if (kind === undefined) continue
    const value = schema[keyword]!
    const changed =
      kind === 'map' ? inMap(value, one) : kind === 'list' || Array.isArray(value) ? inList(value, one) : one(value)
    if (changed !== value) out = { ...out, [keyword]: changed }
  }
  return change(out)
}

function inList(list: Json, one: (value: Json) => Json): Json {
  if (!Array.isArray(list)) return list
  const changed = list.map(one)
  return changed.every((value, index) => value === list[index]) ? list : changed
}

function inMap(named: Json, one: (value: Json) => Json): Json {
  if (!isObject(named)) return named
  const entries = Object.entries(named).map(([name, value]) => [name, value, one(value)] as const)
  if (entries.every(([, value, changed]) => value === changed)) return named
  return Object.fromEntries(entries.map(([name, , changed]) => [name, changed]))
}
