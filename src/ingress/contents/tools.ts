import { orNull } from '../../canonical/json-schema.ts'
import { append } from '../../canonical/lists.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { FunctionTool, HostedKind, HostedTool, Tool, ToolChoice } from '../../canonical/tool.ts'
import { defined, NO_FIELDS, object, objects, required, text, texts } from '../fields.ts'
import { opaqueTool } from '../opaque-tool.ts'
import { asList, contentsExtras, type Extras, FORMAT, inCamelCase } from './fields.ts'

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
  const entries = objects(asList(wire))
  if (entries === undefined) return undefined
  const tools: Tool[] = []
  for (const entry of entries) readEntry(entry, tools)
  return tools
}

/** Adds the tools of an entry. All unknown fields of the entry together become one opaque tool. */
function readEntry(entry: JsonObject, tools: Tool[]): void {
  const fields = inCamelCase(entry, ENTRY)
  for (const field in fields) {
    const value = fields[field]!
    if (value === null || !ENTRY.has(field)) continue
    if (field === DECLARATIONS) append(tools, required(objects(asList(value))).map(readFunction))
    else tools.push(readHosted(field, value))
  }
  const unknown = contentsExtras(fields, ENTRY).extras?.[FORMAT]
  if (unknown !== undefined) tools.push(opaqueTool(FORMAT, unknown))
}

const DECLARATION = new Set(['name', 'description', 'parameters', 'parametersJsonSchema'])
const WITHOUT_OPENAPI = new Set(['name', 'description', 'parametersJsonSchema'])

/** Reads a function, with its parameters as JSON Schema, from either of the two schema dialects. */
function readFunction(wire: JsonObject): FunctionTool {
  const fields = inCamelCase(wire, DECLARATION)
  const openApiSchema = object(fields['parameters'])
  const json = object(fields['parametersJsonSchema'])
  const parameters = json ?? (openApiSchema && jsonSchemaOf(openApiSchema))
  return {
    type: 'function',
    name: required(text(fields['name'])),
    ...defined({ description: text(fields['description']), parameters }),
    ...contentsExtras(fields, json === undefined ? DECLARATION : WITHOUT_OPENAPI),
  }
}

const SEARCH = new Set(['excludeDomains'])

function readHosted(field: string, value: Json): HostedTool {
  const wire = required(object(value))
  const kind = HOSTED[field]!
  if (field !== 'googleSearch') return { type: 'hosted', kind, ...contentsExtras(wire, NO_FIELDS) }
  const fields = inCamelCase(wire, SEARCH)
  const blockedDomains = texts(fields['excludeDomains'])
  return { type: 'hosted', kind, ...defined({ blockedDomains }), ...contentsExtras(fields, SEARCH) }
}

const CONFIG = new Set(['functionCallingConfig'])
const CALLING_FIELDS = new Set(['mode', 'allowedFunctionNames'])

const MODES: { readonly [mode: string]: ToolChoice['mode'] } = { AUTO: 'auto', ANY: 'required', NONE: 'none' }

/**
 * Reads the tool choice. VALIDATED, which requires arguments to match the schema, becomes `auto`. Google reads the modes
 * in either case, and Zed writes them in lower case (zed: crates/google_ai, 2026-12-01).
 */
export function readToolConfig(wire: Json | undefined): { readonly choice?: ToolChoice; readonly extras?: Extras } {
  const toolConfig = object(wire)
  if (toolConfig === undefined) return {}
  const config = inCamelCase(toolConfig, CONFIG)
  const inner = object(config['functionCallingConfig'])
  if (inner === undefined) return { extras: contentsExtras(config, CONFIG) }
  const callingConfig = inCamelCase(inner, CALLING_FIELDS)
  const mode = text(callingConfig['mode'])?.toUpperCase()
  const only = texts(callingConfig['allowedFunctionNames'])
  return {
    choice: { mode: (mode !== undefined && Object.hasOwn(MODES, mode) && MODES[mode]) || 'auto', ...defined({ only }) },
    extras: contentsExtras(config, CONFIG, { functionCallingConfig: contentsExtras(callingConfig, CALLING_FIELDS) }),
  }
}

/*
 * Google's schema dialect: a subset of OpenAPI's, with type names in upper case (docs/wire/contents.md#schemas, trap
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
 * Converts a schema to JSON Schema. Type names are converted to lower case, `nullable` to a type, and counts written as
 * strings to numbers.
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
