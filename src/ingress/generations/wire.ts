import * as v from 'valibot'
import { shape } from '../errors/validation-error.ts'

/* `POST /v1/video/generations` (SERVICE.md, "Video"). Loose: unknown fields pass. */

const maybe = <S extends v.GenericSchema>(schema: S) => v.nullish(schema)
const maybeText = maybe(v.string())
const maybeNumber = maybe(v.number())
const count = maybe(v.pipe(v.number(), v.integer(), v.minValue(1)))

export const request = shape({
  model: v.string(),
  prompt: v.pipe(v.string(), v.minLength(1, 'Invalid length: Expected a prompt')),
  duration: maybeNumber,
  size: maybeText,
  image: maybeText,
  images: maybe(v.array(v.string())),
  n: count,
  seed: maybeNumber,
  quality: maybeText,
  negative_prompt: maybeText,
  user: maybeText,
})
