import type { Losses, Path } from '../../canonical/loss.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { FunctionTool } from '../../canonical/tool.ts'
import { eachSchema } from './each-schema.ts'
import { withCurrentKeywords } from './older-drafts.ts'
import { withCurrentForm, withOwnRoot } from './parameters.ts'
import { looksAround } from './patterns.ts'

/** Keywords that the upstream refuses, because it does not enforce their constraints. */
const REFUSED_KEYWORDS: ReadonlySet<string> = new Set([
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minLength', 'maxLength'],
  ...['maxItems', 'uniqueItems', 'contains', 'minContains', 'maxContains', 'minProperties', 'maxProperties'],
  ...['propertyNames', 'patternProperties', 'dependentRequired', 'dependentSchemas', 'unevaluatedProperties'],
  ...['not', 'if', 'then', 'else', '$schema'],
])

/** String formats that the upstream enforces (`transform-json-schema` in Anthropic's client, 1.11). */
const SUPPORTED_FORMATS: ReadonlySet<Json> = new Set<Json>([
  ...['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'],
])

/**
 * Reduces a schema to the subset that the upstream enforces: closes its objects and removes unsupported keywords.
 * Property names never change.
 */
export const strictSchema = (schema: JsonObject): JsonObject => eachSchema(withCurrentKeywords(schema), closeSchema)

function closeSchema(schema: JsonObject): JsonObject {
  const entries: [string, Json][] = []
  for (const key in schema) {
    const value = schema[key]!
    if (REFUSED_KEYWORDS.has(key) || (key === 'additionalProperties' && value !== false)) continue
    if (key === 'format' && !SUPPORTED_FORMATS.has(value)) continue
    if (key === 'pattern' && looksAround(value)) continue
    if (key === 'minItems' && typeof value === 'number' && value > 1) continue
    entries.push([key === 'oneOf' ? 'anyOf' : key, value])
  }
  if (isObjectSchema(schema) && schema['additionalProperties'] !== false) entries.push(['additionalProperties', false])
  return Object.fromEntries(entries)
}

/**
 * Returns the strictness of a function for OpenAI, which refuses a strict one whose schema leaves properties optional
 * (docs/wire/chat.md#tools). Claude takes such functions.
 */
export function strictnessOf({ strict, parameters }: FunctionTool, path: Path, losses: Losses): boolean | undefined {
  if (strict !== true || parameters === undefined || isClosed(argumentSchema(parameters))) return strict
  losses.change([...path, 'strict'], false, 'strict-without-options-only')
  return false
}

/** Reports the strictness of a function to an upstream without strict ones. A function is not strict by default. */
export function dropStrictness({ strict }: FunctionTool, path: Path, losses: Losses): undefined {
  if (strict === true) losses.drop([...path, 'strict'], 'no-strict-tools')
  else if (strict === false) losses.dropRestored([...path, 'strict'], 'the-default')
}

/** Returns true if every object of a schema requires all of its properties and forbids others. */
function isClosed(schema: JsonObject): boolean {
  let closed = true
  eachSchema(schema, inner => {
    if (isObjectSchema(inner) && !isClosedObject(inner)) closed = false
    return inner
  })
  return closed
}

function isClosedObject({ properties, required, additionalProperties, patternProperties }: JsonObject): boolean {
  const needed = new Set<Json>(Array.isArray(required) ? required : [])
  if (additionalProperties !== false || patternProperties !== undefined) return false
  return Object.keys(properties ?? {}).every(name => needed.has(name))
}

const isObjectSchema = ({ type, properties }: JsonObject): boolean =>
  type === 'object' || (Array.isArray(type) && type.includes('object')) || (type === undefined && isObject(properties))

/**
 * Returns a tool's argument schema in the form that the upstream accepts: an object without a union at the top level.
 */
export function argumentSchema(schema: JsonObject): JsonObject {
  const merged = withCurrentForm(withOwnRoot(schema))
  return merged['type'] === 'object' ? merged : { type: 'object', ...withoutType(merged) }
}

function withoutType({ type: _, ...others }: JsonObject): JsonObject {
  return others
}
