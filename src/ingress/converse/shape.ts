import { isObject, type JsonObject, parseObject } from '../../canonical/node.ts'
import type { Output } from '../../canonical/request.ts'
import { defined, object, text } from '../fields.ts'

/** Reads the requested shape of the answer: a JSON schema, given as text. Returns undefined for any other shape. */
export function readShape(config: JsonObject): Output['text'] {
  const format = object(config['textFormat'])
  text(format?.['type'])
  const definition = object(object(format?.['structure'])?.['jsonSchema'])
  const schema = text(definition?.['schema'])
  const schemaFacts = defined({ name: text(definition?.['name']), description: text(definition?.['description']) })
  const parsed = schema === undefined ? undefined : parseObject(schema)
  if (format === undefined || format['type'] !== 'json_schema' || parsed === undefined) return undefined
  const isKnown =
    hasOnly(format, FORMAT_FIELDS) && hasOnly(format['structure'], STRUCTURE) && hasOnly(definition, SCHEMA)
  return isKnown ? { shape: 'schema', schema: parsed, ...schemaFacts } : undefined
}

const FORMAT_FIELDS = new Set(['type', 'structure'])
const STRUCTURE = new Set(['jsonSchema'])
const SCHEMA = new Set(['schema', 'name', 'description'])

const hasOnly = (wire: unknown, fields: ReadonlySet<string>): boolean =>
  isObject(wire) && Object.keys(wire).every(field => fields.has(field) || wire[field] === null)
