import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { eachSchema } from '../sanitize/parameters.ts'

/** Keywords with constraints that the upstream does not enforce, and refuses. */
const REFUSED: ReadonlySet<string> = new Set([
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minLength', 'maxLength'],
  ...['maxItems', 'uniqueItems', 'contains', 'minContains', 'maxContains', 'minProperties', 'maxProperties'],
  ...['propertyNames', 'patternProperties', 'dependentRequired', 'dependentSchemas', 'unevaluatedProperties'],
  ...['not', 'if', 'then', 'else', '$schema'],
])

/** The formats that the upstream enforces, all of texts (`transform-json-schema` of Anthropic's own client, 1.11). */
const FORMATS: ReadonlySet<Json> = new Set<Json>([
  ...['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'],
])

/**
 * A schema in the subset that the upstream enforces: objects are closed, and other keywords are removed. Only keywords
 * are changed, never names of properties.
 */
export const strictSchema = (schema: JsonObject): JsonObject => eachSchema(schema, strict)

function strict(schema: JsonObject): JsonObject {
  const entries: [string, Json][] = []
  for (const key in schema) {
    const value = schema[key]!
    if (REFUSED.has(key) || (key === 'additionalProperties' && value !== false)) continue
    if (key === 'format' && !FORMATS.has(value)) continue
    if (key === 'minItems' && typeof value === 'number' && value > 1) continue
    entries.push([key === 'oneOf' ? 'anyOf' : key, value])
  }
  if (isObjectSchema(schema) && schema['additionalProperties'] !== false) entries.push(['additionalProperties', false])
  return Object.fromEntries(entries)
}

const isObjectSchema = ({ type, properties }: JsonObject): boolean =>
  type === 'object' || (Array.isArray(type) && type.includes('object')) || (type === undefined && isObject(properties))

const UNITED: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf'])

/** A schema of a tool's arguments: an object, without a union at the top. */
export function argumentSchema(schema: JsonObject): JsonObject {
  if (schema['type'] === 'object' && !Object.keys(schema).some(key => UNITED.has(key))) return schema
  const kept = Object.entries(schema).filter(([key]) => key !== 'type' && !UNITED.has(key))
  return Object.fromEntries([['type', 'object'], ...kept])
}
