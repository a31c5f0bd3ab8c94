import * as v from 'valibot'
import { count, maybe, maybeNumber, maybeText, shape } from '../errors/validation-error.ts'

/* Schema of `POST /v1/video/generations`. Unknown fields are accepted. */

export const request = shape({
  model: v.string(),
  prompt: v.pipe(v.string(), v.minLength(1, 'Invalid length: Expected a prompt')),
  duration: maybeNumber,
  size: maybeText,
  image: maybeText,
  images: maybe(v.array(v.string())),
  n: maybe(count),
  seed: maybeNumber,
  quality: maybeText,
  negative_prompt: maybeText,
  user: maybeText,
})
