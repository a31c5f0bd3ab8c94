import type { Losses, Path } from '../../canonical/loss.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { FunctionTool } from '../../canonical/tool.ts'
import { eachSchema } from './each-schema.ts'
import { withMergedUnions } from './merged-unions.ts'
import { withCurrentKeywords } from './older-drafts.ts'
import { type PatternReason, withoutRefusedPatterns } from './patterns.ts'
import { withoutRootReference } from './root-reference.ts'
import { type SchemaDialect, SUBSETS } from './schema-subsets.ts'

/**
 * Returns the tool's parameter schema with the fields that OpenAI requires even though they have defaults, `properties`
 * of objects and `items` of lists, and without patterns and unions that it refuses.
 */
export function parametersOf(
  { parameters }: FunctionTool,
  path: Path,
  losses: Losses,
  { schemas = 'any' }: SchemaDialect = {},
): JsonObject | undefined {
  if (parameters === undefined) return undefined
  const mergedSchema = withOwnRoot(parameters)
  const plainSchema = withPlainRoot(withCurrentForm(mergedSchema))
  let refusal: PatternReason | undefined
  const note = (reason: PatternReason): void => {
    refusal ??= reason
  }
  const completeSchema = eachSchema(plainSchema, schema => withItems(withoutRefusedPatterns(schema, note)))
  const rootSchema =
    completeSchema['type'] === undefined || completeSchema['properties'] === undefined
      ? { ...EMPTY_ROOT, ...completeSchema }
      : completeSchema
  const legalSchema = SUBSETS[schemas](rootSchema)
  if (legalSchema !== rootSchema) {
    losses.change([...path, 'parameters'], legalSchema, 'schema-made-legal')
    return legalSchema
  }
  if (refusal !== undefined) losses.change([...path, 'parameters'], rootSchema, refusal)
  else if (mergedSchema !== parameters) losses.change([...path, 'parameters'], rootSchema, 'no-union-at-the-top')
  else if (plainSchema !== mergedSchema) losses.change([...path, 'parameters'], rootSchema, 'schema-made-legal')
  else if (rootSchema !== parameters) losses.add([...path, 'parameters'], rootSchema, 'minted-schema-fields')
  return rootSchema
}

/** Returns an argument schema with keywords of its own at the top, in place of a reference or a union. */
export const withOwnRoot = (schema: JsonObject): JsonObject => withMergedUnions(withoutRootReference(schema))

/** Returns an argument schema in the current draft, in which the schemas of properties are objects. */
export const withCurrentForm = (schema: JsonObject): JsonObject => withPropertySchemas(withCurrentKeywords(schema))

/**
 * Writes properties whose schema is a boolean, as Rust's schemars writes them, as objects of the same meaning. Ollama
 * refuses booleans: "cannot unmarshal bool into Go struct field ToolFunctionParameters" (oh-my-pi#4488, read on
 * 2026-12-01).
 */
const withPropertySchemas = (schema: JsonObject): JsonObject =>
  eachSchema(schema, one => {
    const { properties } = one
    if (!isObject(properties) || !Object.values(properties).some(isBoolean)) return one
    const named = Object.entries(properties).map(([name, value]) => [name, isBoolean(value) ? objectFor(value) : value])
    return { ...one, properties: Object.fromEntries(named) }
  })

const isBoolean = (value: Json): value is boolean => typeof value === 'boolean'
const objectFor = (allowsAll: boolean): JsonObject => (allowsAll ? {} : { not: {} })

/** Writes any type of arguments as `object`. Arguments are objects, and OpenAI and Ollama demand the word. */
const withPlainRoot = (schema: JsonObject): JsonObject =>
  schema['type'] === undefined || schema['type'] === 'object' ? schema : { ...schema, type: 'object' }

/** Returns the schema of an answer without patterns that OpenAI refuses. */
export function shapeSchema(schema: JsonObject, losses: Losses, { schemas = 'any' }: SchemaDialect = {}): JsonObject {
  let refusal: PatternReason | undefined
  const currentSchema = withCurrentKeywords(schema)
  const readableSchema = eachSchema(currentSchema, inner =>
    withoutRefusedPatterns(inner, reason => {
      refusal ??= reason
    }),
  )
  const legalSchema = SUBSETS[schemas](readableSchema)
  if (legalSchema !== readableSchema || currentSchema !== schema) {
    losses.change(['output', 'text', 'schema'], legalSchema, 'schema-made-legal')
    return legalSchema
  }
  if (refusal !== undefined) losses.change(['output', 'text', 'schema'], readableSchema, refusal)
  return readableSchema
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
