import { Budget } from '../../canonical/budget.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { withMergedUnions } from './merged-unions.ts'
import { targetOf } from './recursive-schema.ts'

/*
 * Kimi's servers refuse a tool whose schema is outside of a subset: "is not a valid moonshot flavored json schema"
 * (docs/wire/chat.md#schemas-that-kimi-takes). Schemas of MCP servers, Zod and Pydantic are.
 */

/** Context of the references within one schema. */
interface Root {
  readonly schema: JsonObject
  readonly budget: Budget
  /** Schemas to which the references around a node point. */
  readonly open: readonly Json[]
}

/** Returns the schema in the subset that Kimi takes. The same object if it is in it already. */
export function kimiSchema(schema: JsonObject): JsonObject {
  const { definitions, ...others } = schema
  const root = isObject(definitions)
    ? { ...others, $defs: { ...definitions, ...(isObject(others['$defs']) ? others['$defs'] : {}) } }
    : schema
  return subset(root, { schema, budget: new Budget(), open: [] })
}

/** Returns true if Kimi takes a tool with this name and this schema. */
export const isKimiTool = (name: string, schema: Json | undefined): boolean =>
  /^[a-zA-Z]/.test(name) &&
  (!isObject(schema) ||
    (schema['type'] === 'object' && withMergedUnions(schema) === schema && kimiSchema(schema) === schema))

/** Returns a subschema in the subset. Anything is valid for `true`. */
const subset = (node: Json, root: Root): JsonObject => (isObject(node) ? subsetOf(node, root) : {})

function subsetOf(node: JsonObject, root: Root): JsonObject {
  if (node['$ref'] !== undefined) return referred(node, root)
  const inner = withSubschemas(withMergedObject(node), root)
  return STEPS.reduce((schema, step) => step(schema), inner)
}

/** Keywords whose value is a schema. Others than these are not checked. */
const SCHEMA_KEYWORDS = ['items', 'additionalProperties'] as const
const SCHEMA_MAPS = ['properties', '$defs'] as const
const SCHEMA_LISTS = ['anyOf', 'oneOf', 'allOf'] as const

function withSubschemas(node: JsonObject, root: Root): JsonObject {
  const changed: { [keyword: string]: Json } = {}
  const set = (keyword: string, value: Json): void => {
    if (value !== node[keyword]) changed[keyword] = value
  }
  for (const keyword of SCHEMA_KEYWORDS) {
    const value = node[keyword]
    if (value === undefined || (keyword === 'additionalProperties' && typeof value === 'boolean')) continue
    set(keyword, Array.isArray(value) ? subset({ anyOf: value }, root) : subset(value, root))
  }
  for (const keyword of SCHEMA_MAPS) {
    const named = node[keyword]
    if (!isObject(named)) continue
    const written = Object.entries(named).map(([name, value]) => [name, subset(value, root)] as const)
    if (written.some(([name, value]) => value !== named[name])) set(keyword, Object.fromEntries(written))
  }
  for (const keyword of SCHEMA_LISTS) {
    const list = node[keyword]
    if (!Array.isArray(list)) continue
    const written = list.map(branch => subset(branch, root))
    if (written.some((branch, index) => branch !== list[index])) set(keyword, written)
  }
  return Object.keys(changed).length === 0 ? node : { ...node, ...changed }
}

/** Matches a reference that may stay: to the whole schema, or to one of its definitions, whose name has no escapes. */
const KEPT_REFERENCE = /^#(?:\/\$defs\/[^/~%]+)?$/

/**
 * Writes a reference. One with other keywords beside it is replaced with its target and these keywords, unless the target
 * contains the reference itself.
 */
function referred(node: JsonObject, root: Root): JsonObject {
  const { $ref: reference, ...others } = node
  const moved = typeof reference === 'string' ? reference.replace(/^#\/definitions\//, '#/$defs/') : ''
  const target = targetOf(node, root.schema)
  const isKept = KEPT_REFERENCE.test(moved) && target !== undefined
  if (isKept && Object.keys(others).length === 0) return moved === reference ? node : { $ref: moved }
  const isExpanded = isObject(target) && !root.open.includes(target) && root.budget.spend(target)
  if (isExpanded) return subsetOf({ ...target, ...others }, { ...root, open: [...root.open, target] })
  return isKept ? { $ref: moved } : subsetOf(others, root)
}

type Step = (schema: JsonObject) => JsonObject

/** Changes of one schema whose subschemas are in the subset. Each returns the same object if there is nothing to do. */
const STEPS: readonly Step[] = [
  withTypedEnum,
  withRequiredDeclared,
  withSingleType,
  withUnionAlone,
  withoutReservedNames,
]

const without = (schema: JsonObject, ...keywords: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(schema).filter(([keyword]) => !keywords.includes(keyword)))

const typeOf = (value: Json): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value === 'number' ? 'number' : typeof value

const listed = (value: Json | undefined): readonly Json[] =>
  Array.isArray(value) ? value : value === undefined ? [] : [value]

/** Types of values in an enum. */
const ENUM_TYPES: ReadonlySet<string> = new Set(['string', 'number', 'boolean', 'null'])

/** Gives an enum the types of its values: "type is not defined". One with other values than texts and numbers is left out. */
function withTypedEnum(schema: JsonObject): JsonObject {
  const { enum: values, type } = schema
  if (!Array.isArray(values)) return schema
  const found = [...new Set(values.map(typeOf))]
  if (values.length === 0 || found.some(name => !ENUM_TYPES.has(name))) return without(schema, 'enum')
  const declared = new Set(listed(type))
  const fits = (name: string): boolean => declared.has(name) || (name === 'number' && declared.has('integer'))
  if (found.every(fits)) return schema
  return { ...schema, type: found.length === 1 ? found[0]! : found }
}

/** Keywords of a schema that stay beside a union. */
const ANNOTATIONS: ReadonlySet<string> = new Set(['title', 'description', 'default', 'examples', '$defs', '$id'])

/** Writes several types as a union, because they may have no keyword beside them but the description. */
function withSingleType(schema: JsonObject): JsonObject {
  const { type, enum: values } = schema
  if (!Array.isArray(type)) return schema
  const beside = Object.keys(schema).filter(keyword => keyword !== 'type' && !ANNOTATIONS.has(keyword))
  if (type.length === 1) return { ...schema, type: type[0]! }
  if (beside.length === 0 && schema['default'] === undefined && schema['examples'] === undefined) return schema
  const own = Object.fromEntries(beside.map(keyword => [keyword, schema[keyword]!]))
  const branches = type.map(name => {
    if (name === 'null') return { type: name }
    if (!Array.isArray(values)) return { ...own, type: name }
    const fitting = values.filter(value => typeOf(value) === (name === 'integer' ? 'number' : name))
    return { ...own, type: name, enum: fitting }
  })
  const possible = branches.filter(branch => !('enum' in branch) || (branch.enum as readonly Json[]).length > 0)
  return { ...without(schema, 'type', ...beside), anyOf: possible }
}

/** Merges a union beside properties with them, because branches may not repeat keywords that stand beside the union. */
function withMergedObject(schema: JsonObject): JsonObject {
  const { anyOf, properties, required } = schema
  if (!Array.isArray(anyOf) || (!isObject(properties) && required === undefined)) return schema
  return withMergedUnions({ ...without(schema, 'type'), type: 'object' })
}

/** Moves the type beside a union into its branches: "type should be defined in anyOf items instead of the parent schema". */
function withUnionAlone(schema: JsonObject): JsonObject {
  const { anyOf, type } = schema
  if (!Array.isArray(anyOf)) return schema
  if (anyOf.length === 0) return without(schema, 'anyOf')
  const beside = Object.keys(schema).filter(keyword => keyword !== 'anyOf' && !ANNOTATIONS.has(keyword))
  const isRefused = (branch: Json): boolean => beside.some(keyword => (branch as JsonObject)[keyword] !== undefined)
  if (type === undefined && !anyOf.some(isRefused)) return schema
  const own = Object.fromEntries(beside.map(keyword => [keyword, schema[keyword]!]))
  const branches = anyOf.map(branch =>
    isComposed(branch as JsonObject) ? branch : { ...own, ...(branch as JsonObject) },
  )
  return { ...without(schema, 'anyOf', ...beside), anyOf: branches }
}

/** Returns true for a branch whose own type stands elsewhere. */
const isComposed = ({ $ref, anyOf }: JsonObject): boolean => $ref !== undefined || anyOf !== undefined

/** Declares the properties that are only required: "required property 'a' is not defined in properties". */
function withRequiredDeclared(schema: JsonObject): JsonObject {
  const { required, properties } = schema
  if (!Array.isArray(required)) return required === undefined ? schema : without(schema, 'required')
  const declared = isObject(properties) ? properties : {}
  const missing = required.filter(name => typeof name === 'string' && !Object.hasOwn(declared, name))
  if (missing.length === 0) return schema
  return { ...schema, properties: { ...declared, ...Object.fromEntries(missing.map(name => [name, {}])) } }
}

/** Names that no property may have: "property name 'required' is reserved for JSON Schema keywords". */
const RESERVED: ReadonlySet<string> = new Set(['$defs', '$ref', 'anyOf', 'required', 'additionalProperties'])

/** Describes properties with reserved names in words. Calls may have them, because objects are open by default. */
function withoutReservedNames(schema: JsonObject): JsonObject {
  const { properties, required, description } = schema
  const reserved = isObject(properties) ? Object.entries(properties).filter(([name]) => RESERVED.has(name)) : []
  if (reserved.length === 0) return schema
  const words = reserved.map(([name, value]) => `Also takes "${name}", which matches ${JSON.stringify(value)}.`)
  const text = [...(typeof description === 'string' ? [description] : []), ...words].join('\n')
  const named = Object.entries(properties as JsonObject).filter(([name]) => !RESERVED.has(name))
  const needed = Array.isArray(required) ? required.filter(name => !RESERVED.has(name as string)) : undefined
  return {
    ...without(schema, ...(schema['additionalProperties'] === false ? ['additionalProperties'] : [])),
    description: text,
    properties: Object.fromEntries(named),
    ...(needed === undefined ? {} : { required: needed }),
  }
}
