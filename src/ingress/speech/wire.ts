import * as v from 'valibot'
import { shape } from '../errors/validation-error.ts'
import { TYPES } from './containers.ts'

/** The text-to-speech request, FORMATS §12. Loose: unknown fields pass. */
const maybe = <S extends v.GenericSchema>(schema: S) => v.nullish(schema)

export const request = shape({
  model: v.string(),
  input: v.string(),
  voice: maybe(v.union([v.string(), shape({ id: v.string() })])),
  instructions: maybe(v.string()),
  response_format: maybe(v.picklist(Object.keys(TYPES))),
  speed: maybe(v.number()),
  stream_format: maybe(v.picklist(['audio', 'sse'])),
})
