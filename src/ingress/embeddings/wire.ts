import * as v from 'valibot'
import { isObject, type JsonObject } from '../../canonical/node.ts'
import { shape } from '../errors/validation-error.ts'

const json = v.custom<JsonObject>(isObject, 'Invalid type: Expected Object')
const tokens = v.pipe(v.array(v.number()), v.minLength(1))
const item = v.union([v.string(), tokens, json])
const INVALID_INPUT = 'Expected a text, a list of tokens, an object, or a non-empty list of these'

/**
 * Schema of the embeddings request (docs/wire/embeddings.md#openai). Unknown fields are accepted. Fields that vendors
 * added are read only if valid.
 */
export const request = shape({
  model: v.string(),
  input: v.union([item, v.pipe(v.array(item), v.minLength(1))], INVALID_INPUT),
  dimensions: v.nullish(v.number()),
  output_dimension: v.nullish(v.number()),
  encoding_format: v.nullish(v.string()),
  user: v.nullish(v.string()),
})
