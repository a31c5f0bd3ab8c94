import { isObject, type Json, type JsonObject } from '../canonical/node.ts'
import type { Output } from '../canonical/request.ts'
import { defined, flag, isMaybe, text } from './fields.ts'

/**
 * The shape of the answer that a caller of OpenAI's formats wants; undefined for one that there is no word for.
 *
 * @param definition where the fields of a schema are.
 */
export function readShape(type: Json | undefined, definition: JsonObject): Output['text'] {
  if (type === 'text') return { shape: 'text' }
  if (type === 'json_object') return { shape: 'json' }
  const { name, description, schema, strict } = definition
  if (type !== 'json_schema' || !isObject(schema)) return undefined
  if (!isMaybe(name, 'string') || !isMaybe(description, 'string') || !isMaybe(strict, 'boolean')) return undefined
  const named = defined({ name: text(name), description: text(description), strict: flag(strict) })
  return { shape: 'schema', schema, ...named }
}
