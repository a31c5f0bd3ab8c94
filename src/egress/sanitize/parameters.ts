import type { Losses, Path } from '../../canonical/loss.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { FunctionTool } from '../../canonical/tool.ts'
import { kimiSchema } from './kimi-schema.ts'
import { withMergedUnions } from './merged-unions.ts'

/** JSON Schema keywords whose value is a schema. */
const SCHEMA_KEYWORDS = ['items', 'additionalProperties', 'not'] as const
/** JSON Schema keywords whose value is a list of schemas. */
const SCHEMA_LIST_KEYWORDS = ['anyOf', 'oneOf', 'allOf', 'prefixItems'] as const
/** JSON Schema keywords whose value is an object of schemas by name. */
const SCHEMA_MAP_KEYWORDS = ['properties', '$defs', 'definitions'] as const

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

/** Dialect flags that affect schemas. */
export interface SchemaDialect {
  readonly schemas?: 'any' | 'kimi'
}

/**
 * Returns the tool's parameter schema with the fields that OpenAI requires even though they have defaults, `properties`
 * of objects and `items` of lists, and without patterns and unions that it refuses.
 */
export function parametersOf(
  { parameters }: FunctionTool,
  path: Path,
  losses: Losses,
  { schemas }: SchemaDialect = {},
): JsonObject | undefined {
  if (parameters === undefined) return undefined
  const mergedSchema = withMergedUnions(parameters)
  let hasLookaround = false
  const completeSchema = eachSchema(mergedSchema, schema => {
    const readableSchema = withoutLookaround(schema)
    hasLookaround ||= readableSchema !== schema
    return withItems(readableSchema)
  })
  const rootSchema =
    completeSchema['type'] === undefined || completeSchema['properties'] === undefined
      ? { ...EMPTY_ROOT, ...completeSchema }
      : completeSchema
  const legalSchema = schemas === 'kimi' ? kimiSchema(rootSchema) : rootSchema
  if (legalSchema !== rootSchema) {
    losses.change([...path, 'parameters'], legalSchema, 'schema-made-legal')
    return legalSchema
  }
  if (hasLookaround) losses.change([...path, 'parameters'], rootSchema, 'no-lookaround')
  else if (mergedSchema !== parameters) losses.change([...path, 'parameters'], rootSchema, 'no-union-at-the-top')
  else if (rootSchema !== parameters) losses.add([...path, 'parameters'], rootSchema, 'minted-schema-fields')
  return rootSchema
}

/** Matches lookaround, which OpenAI and strict Claude refuse: "is not supported" (docs/wire/chat.md#tools). */
const LOOKAROUND = /\(\?<?[=!]/

/** Returns true if a value is a pattern with lookaround, as Zod's for email addresses. */
export const looksAround = (pattern: Json | undefined): boolean =>
  typeof pattern === 'string' && LOOKAROUND.test(pattern)

/** Returns the schema of an answer without patterns that OpenAI refuses. */
export function shapeSchema(schema: JsonObject, losses: Losses, { schemas }: SchemaDialect = {}): JsonObject {
  const readableSchema = eachSchema(schema, withoutLookaround)
  const legalSchema = schemas === 'kimi' ? kimiSchema(readableSchema) : readableSchema
  if (legalSchema !== readableSchema) {
    losses.change(['output', 'text', 'schema'], legalSchema, 'schema-made-legal')
    return legalSchema
  }
  if (readableSchema !== schema) losses.change(['output', 'text', 'schema'], readableSchema, 'no-lookaround')
  return readableSchema
}

function withoutLookaround(schema: JsonObject): JsonObject {
  if (!looksAround(schema['pattern'])) return schema
  const { pattern: _, ...others } = schema
  return others
}

const EMPTY_ROOT: JsonObject = { type: 'object', properties: {} }

/** Returns the parameters of a function that has none, for upstreams that demand them (docs/wire/chat.md#tools). */
export function emptyParameters(path: Path, losses: Losses, strict = false): JsonObject {
  const schema = strict ? { ...EMPTY_ROOT, required: [], additionalProperties: false } : EMPTY_ROOT
  losses.add([...path, 'parameters'], schema, 'minted-empty-schema')
  return schema
}

function withItems(schema: JsonObject): JsonObject {
  const { type, items } = schema
  const isList = type === 'array' || (Array.isArray(type) && type.includes('array'))
  return isList && items === undefined ? { ...schema, items: {} } : schema
}
