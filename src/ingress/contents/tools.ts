import { orNull } from '../../canonical/json-schema.ts'
import { append } from '../../canonical/lists.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { FunctionTool, HostedKind, HostedTool, Tool, ToolChoice } from '../../canonical/tool.ts'
import { defined, NONE, object, objects, required, text, texts } from '../fields.ts'
import { opaqueTool } from '../opaque-tool.ts'
import { type Extras, FORMAT, leftOf, listed, open } from './fields.ts'

const HOSTED: { readonly [field: string]: HostedKind } = {
  googleSearch: 'web-search',
  googleSearchRetrieval: 'web-search',
  urlContext: 'web-fetch',
  codeExecution: 'code-execution',
}
const DECLARATIONS = 'functionDeclarations'
/** The known fields of an entry in `tools`, in camelCase. */
export const ENTRY = new Set([...Object.keys(HOSTED), DECLARATIONS])

/** Reads the entries of `tools`, each of which may hold several functions and hosted tools. */
export function readTools(wire: Json | undefined): readonly Tool[] | undefined {
  const entries = objects(listed(wire))
  if (entries === undefined) return undefined
  const tools: Tool[] = []
  for (const entry of entries) readEntry(entry, tools)
  return tools
}

/** Adds the tools of an entry. Its unknown fields together become one opaque tool. */
function readEntry(entry: JsonObject, tools: Tool[]): void {
  const fields = open(entry, ENTRY)
  for (const field in fields) {
    const value = fields[field]!
    if (value === null || !ENTRY.has(field)) continue
    if (field === DECLARATIONS) append(tools, required(objects(listed(value))).map(readFunction))
    else tools.push(readHosted(field, value))
  }
  const unknown = leftOf(fields, ENTRY).extras?.[FORMAT]
  if (unknown !== undefined) tools.push(opaqueTool(FORMAT, unknown))
}

const DECLARATION = new Set(['name', 'description', 'parameters', 'parametersJsonSchema'])
const WITHOUT_OPENAPI = new Set(['name', 'description', 'parametersJsonSchema'])

/** Reads a function, with its parameters as JSON Schema, from either of the two schema dialects. */
function readFunction(wire: JsonObject): FunctionTool {
  const fields = open(wire, DECLARATION)
  const own = object(fields['parameters'])
  const json = object(fields['parametersJsonSchema'])
  const parameters = json ?? (own && jsonSchemaOf(own))
  return {
    type: 'function',
    name: required(text(fields['name'])),
    ...defined({ description: text(fields['description']), parameters }),
    ...leftOf(fields, json === undefined ? DECLARATION : WITHOUT_OPENAPI),
  }
}

const SEARCH = new Set(['excludeDomains'])

function readHosted(field: string, value: Json): HostedTool {
  const wire = required(object(value))
  const kind = HOSTED[field]!
  if (field !== 'googleSearch') return { type: 'hosted', kind, ...leftOf(wire, NONE) }
  const fields = open(wire, SEARCH)
  const blockedDomains = texts(fields['excludeDomains'])
  return { type: 'hosted', kind, ...defined({ blockedDomains }), ...leftOf(fields, SEARCH) }
}

const CONFIG = new Set(['functionCallingConfig'])
const CALLING = new Set(['mode', 'allowedFunctionNames'])

const MODES: { readonly [mode: string]: ToolChoice['mode'] } = { AUTO: 'auto', ANY: 'required', NONE: 'none' }

/** Reads which tools the model may use. VALIDATED becomes `auto`; in that mode arguments must match the schema. */
export function readToolConfig(wire: Json | undefined): { readonly choice?: ToolChoice; readonly left?: Extras } {
  const given = object(wire)
  if (given === undefined) return {}
  const config = open(given, CONFIG)
  const inner = object(config['functionCallingConfig'])
  if (inner === undefined) return { left: leftOf(config, CONFIG) }
  const calling = open(inner, CALLING)
  const mode = text(calling['mode'])
  const only = texts(calling['allowedFunctionNames'])
  return {
    choice: { mode: (mode !== undefined && Object.hasOwn(MODES, mode) && MODES[mode]) || 'auto', ...defined({ only }) },
    left: leftOf(config, CONFIG, { functionCallingConfig: leftOf(calling, CALLING) }),
  }
}

/*
 * Google's schema dialect is a subset of OpenAPI's, with type names in upper case (docs/wire/contents.md#schemas, trap
 * 55).
 */

const COUNTS = new Set(['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties'])
const SCHEMAS = new Set(['items', 'additionalProperties', 'not'])
const LISTS = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])
const MAPS = new Set(['properties', '$defs', 'defs', 'definitions'])

/** Schema keywords by their snake_case names in protobuf (trap 104). */
const SNAKE: ReadonlyMap<string, string> = new Map([
  ...[...COUNTS, 'additionalProperties', 'anyOf', 'oneOf', 'allOf', 'prefixItems', 'propertyOrdering'].map(
    name => [name.replace(/[A-Z]/, letter => `_${letter.toLowerCase()}`), name] as const,
  ),
])

/**
 * Converts a schema to JSON Schema: type names become lower case, `nullable` becomes a type, and counts written as
 * texts become numbers.
 */
export function jsonSchemaOf(schema: JsonObject): JsonObject {
  const entries = Object.entries(schema)
    .map(([key, value]) => [SNAKE.get(key) ?? key, value] as const)
    .filter(([key]) => key !== 'nullable' && key !== 'propertyOrdering')
    .map(([key, value]) => [key, keyword(key, value)] as const)
  const plain: JsonObject = Object.fromEntries(entries)
  return schema['nullable'] === true ? orNull(plain) : plain
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
