import { isObject, type Json, type JsonObject } from '../canonical/node.ts'
import type { Output } from '../canonical/request.ts'
import { defined, flag, isMaybe, text } from './fields.ts'

/**
 * Reads the answer shape requested in one of OpenAI's formats. Returns undefined for a shape that the canonical model
 * lacks.
 *
 * @param definition the object with the fields of the schema.
 */
export function readShape(type: Json | undefined, definition: JsonObject): Output['text'] {
  if (type === 'text') return { shape: 'text' }
  if (type === 'json_object') return { shape: 'json' }
  const { name, description, schema, strict } = definition
  if (type !== 'json_schema' || !isObject(schema)) return undefined
  if (!isMaybe(name, 'string') || !isMaybe(description, 'string') || !isMaybe(strict, 'boolean')) return undefined
  const schemaFacts = defined({ name: text(name), description: text(description), strict: flag(strict) })
  return { shape: 'schema', schema, ...schemaFacts }
}
