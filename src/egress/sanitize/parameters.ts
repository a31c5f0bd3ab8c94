import type { Losses, Path } from '../../canonical/loss.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { FunctionTool } from '../../canonical/tool.ts'

/*
 * OpenAI refuses schemas of parameters without the fields that have defaults: an object without `properties`, and a
 * list without `items`.
 */

/** The tool's parameters with these fields written out. */
export function parametersOf({ parameters }: FunctionTool, path: Path, losses: Losses): JsonObject | undefined {
  if (parameters === undefined) return undefined
  const whole = listed(parameters) as JsonObject
  const complete = whole['type'] === undefined || whole['properties'] === undefined ? { ...ROOT, ...whole } : whole
  if (complete !== parameters) losses.add([...path, 'parameters'], complete, 'minted-what-goes-unsaid')
  return complete
}

const ROOT: JsonObject = { type: 'object', properties: {} }

/** Keywords with one schema, with a list of them, and with schemas by name. */
const ONE = ['items', 'additionalProperties', 'not'] as const
const MANY = ['anyOf', 'oneOf', 'allOf', 'prefixItems'] as const
const NAMED = ['properties', '$defs', 'definitions'] as const

/** The schema with `items` added to every list that lacks them; the same object where nothing is missing. */
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
