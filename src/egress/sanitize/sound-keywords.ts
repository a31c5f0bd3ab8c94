import { isRawNumber } from '../../canonical/exact-numbers.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { eachSchema } from './each-schema.ts'

/*
 * Keywords with values that no draft of JSON Schema allows, as handwritten MCP servers have them. Claude, OpenAI and Groq
 * refuse all tools of a request for one: "JSON schema is invalid. It must match JSON Schema draft 2020-12"
 * (MarkusPfundstein/mcp-gsuite#58: `required: false` in a property), "'object' is not of type 'object', 'boolean'"
 * (smallmain/vscode-unify-chat-provider#162: a text in `properties`), read on 2026-12-01.
 */

/** Returns the schema with sound values of its keywords. The same object if all are sound. */
export const withSoundKeywords = (schema: JsonObject): JsonObject =>
  eachSchema(
    eachSchema(schema, one => (isRequired(one) ? one : withGatheredNames(one))),
    withSoundValues,
  )

function withSoundValues(schema: JsonObject): JsonObject {
  let out = schema
  for (const [keyword, value] of Object.entries(schema)) {
    const sound = RULES.get(keyword)?.(value)
    if (!RULES.has(keyword) || sound === value) continue
    const { [keyword]: _, ...others } = out
    out = sound === undefined ? others : { ...out, [keyword]: sound }
  }
  return out
}

/** Moves `required: true` of properties, which draft 3 has, into the list of the object around them. */
function withGatheredNames(schema: JsonObject): JsonObject {
  const { properties, required } = schema
  if (!isObject(properties)) return schema
  const names = Object.keys(properties).filter(name => isRequired(properties[name]))
  if (names.length === 0) return schema
  const entries = Object.entries(properties).map(([name, one]) => [name, isRequired(one) ? withoutMark(one) : one])
  return {
    ...schema,
    properties: Object.fromEntries(entries),
    required: [...(Array.isArray(required) ? required : []), ...names],
  }
}

/** Gathers the names in a property, too, which waited for its own mark to go. */
function withoutMark({ required: _, ...schema }: JsonObject): JsonObject {
  return withGatheredNames(schema)
}

const isRequired = (schema: Json | undefined): schema is JsonObject => isObject(schema) && schema['required'] === true

/** Returns the sound form of a keyword's value, the same value if it is sound, or undefined to leave the keyword out. */
type Rule = (value: Json) => Json | undefined

const when =
  (isSound: (value: Json) => boolean): Rule =>
  value =>
    isSound(value) ? value : undefined

const text = when(value => typeof value === 'string')
const flag = when(value => typeof value === 'boolean')
const list = when(Array.isArray)
const count: Rule = value => {
  if (isRawNumber(value)) return value
  const number = numeric(value)
  return Number.isInteger(number) && (number as number) >= 0 ? number : undefined
}
const numeric: Rule = value => {
  if (typeof value === 'number' || isRawNumber(value)) return value
  return typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : undefined
}
const step: Rule = value => {
  if (isRawNumber(value)) return value
  const number = numeric(value)
  return number !== undefined && (number as number) > 0 ? number : undefined
}

const isSchema = (value: Json): boolean => isObject(value) || typeof value === 'boolean'
const schema = when(isSchema)

const schemas: Rule = value => {
  if (!Array.isArray(value)) return undefined
  const sound = value.filter(isSchema)
  if (sound.length === 0) return undefined
  return sound.length === value.length ? value : sound
}

/** Returns a rule for an object whose values are all sound. Others are left out. */
const named =
  (isSound: (value: Json) => boolean): Rule =>
  value => {
    if (!isObject(value)) return undefined
    const sound = Object.entries(value).filter(([, one]) => isSound(one))
    return sound.length === Object.keys(value).length ? value : Object.fromEntries(sound)
  }

const isNames = (value: Json): boolean => Array.isArray(value) && names(value) === value
const names: Rule = value => {
  if (!Array.isArray(value)) return undefined
  const unique = [...new Set(value.filter(one => typeof one === 'string'))]
  return unique.length === value.length ? value : unique
}

/** Names of types in JSON Schema, and in the languages whose names code generators write. */
const TYPES: ReadonlyMap<Json, string> = new Map<Json, string>([
  ...['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'].map(name => [name, name] as const),
  ...['str', 'text', 'date', 'datetime', 'file'].map(name => [name, 'string'] as const),
  ...['int', 'int32', 'int64', 'long'].map(name => [name, 'integer'] as const),
  ...['float', 'double', 'decimal'].map(name => [name, 'number'] as const),
  ...[
    ['bool', 'boolean'] as const,
    ['list', 'array'] as const,
    ['dict', 'object'] as const,
    ['map', 'object'] as const,
  ],
])

/** An unknown type, such as `any`, allows every value, as does a list that names one. */
const type: Rule = value => {
  if (!Array.isArray(value)) return typeOf(value)
  const types = value.map(typeOf)
  if (types.length === 0 || types.includes(undefined)) return undefined
  const unique = [...new Set(types)] as string[]
  return unique.length === value.length && unique.every((one, index) => one === value[index]) ? value : unique
}

const typeOf = (value: Json): string | undefined =>
  TYPES.get(value) ?? (typeof value === 'string' ? TYPES.get(value.toLowerCase()) : undefined)

const rules = (rule: Rule, ...keywords: readonly string[]): [string, Rule][] => keywords.map(one => [one, rule])

const RULES: ReadonlyMap<string, Rule> = new Map([
  ...rules(type, 'type'),
  ...rules(names, 'required'),
  ...rules(text, 'title', 'description', '$comment', 'format', 'pattern', 'contentEncoding', 'contentMediaType'),
  ...rules(text, '$ref', '$schema', '$dynamicRef'),
  ...rules(
    when(value => typeof value === 'string' && /^[^#]*#?$/.test(value)),
    '$id',
  ),
  ...rules(
    when(value => typeof value === 'string' && /^[A-Za-z_][-A-Za-z0-9._]*$/.test(value)),
    '$anchor',
  ),
  ...rules(numeric, 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'),
  ...rules(step, 'multipleOf'),
  ...rules(count, 'minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'),
  ...rules(count, 'minContains', 'maxContains'),
  ...rules(flag, 'uniqueItems', 'deprecated', 'readOnly', 'writeOnly'),
  ...rules(list, 'enum', 'examples'),
  ...rules(schema, 'items', 'additionalProperties', 'not', 'contains', 'propertyNames', 'if', 'then', 'else'),
  ...rules(schema, 'unevaluatedItems', 'unevaluatedProperties', 'contentSchema'),
  ...rules(schemas, 'anyOf', 'oneOf', 'allOf', 'prefixItems'),
  ...rules(named(isSchema), 'properties', '$defs', 'definitions', 'patternProperties', 'dependentSchemas'),
  ...rules(named(isNames), 'dependentRequired'),
  ...rules(
    named(value => isSchema(value) || isNames(value)),
    'dependencies',
  ),
])
