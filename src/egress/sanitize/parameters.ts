import type { Losses, Path } from '../../canonical/loss.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { FunctionTool } from '../../canonical/tool.ts'

/*
 * OpenAI refuses schemas of parameters that leave unsaid what goes without saying: that an object without properties
 * has none, and that a list may hold anything.
 */

/** The tool's parameters with all of that said. */
export function parametersOf({ parameters }: FunctionTool, path: Path, losses: Losses): JsonObject | undefined {
  if (parameters === undefined) return undefined
  const whole = listed(parameters) as JsonObject
  const said = whole['type'] === undefined || whole['properties'] === undefined ? { ...ROOT, ...whole } : whole
  if (said !== parameters) losses.add([...path, 'parameters'], said, 'minted-what-goes-unsaid')
  return said
}

const ROOT: JsonObject = { type: 'object', properties: {} }

/** Keywords with one schema, with a list of them, and with schemas by name. */
const ONE = ['items', 'additionalProperties', 'not'] as const
const MANY = ['anyOf', 'oneOf', 'allOf', 'prefixItems'] as const
const NAMED = ['properties', '$defs', 'definitions'] as const

/** The schema with every list in it open to anything where it says nothing else; the very same where nothing is missing. */
function listed(schema: Json): Json {
  if (!isObject(schema)) return schema
  let out = schema
  const set = (key: string, value: Json): void => {
    if (value !== schema[key]) out = { ...out, [key]: value }
  }
  for (const key of ONE) if (schema[key] !== undefined) set(key, listed(schema[key]))
  for (const key of MANY) if (Array.isArray(schema[key])) set(key, each(schema[key]))
  for (const key of NAMED) if (isObject(schema[key])) set(key, named(schema[key]))
  const isList = schema['type'] === 'array' || (Array.isArray(schema['type']) && schema['type'].includes('array'))
  return isList && schema['items'] === undefined ? { ...out, items: {} } : out
}

function each(schemas: readonly Json[]): Json {
  const out = schemas.map(listed)
  return out.every((one, index) => one === schemas[index]) ? (schemas as Json) : out
}

function named(schemas: JsonObject): JsonObject {
  const out = Object.entries(schemas).map(([name, one]) => [name, listed(one)] as const)
  return out.every(([name, one]) => one === schemas[name]) ? schemas : Object.fromEntries(out)
}
