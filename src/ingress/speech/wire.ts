import * as v from 'valibot'
import { maybe, maybeText, shape } from '../errors/validation-error.ts'

export const FORMAT = 'speech'

/** The values of `response_format` (FORMATS §12). */
const TYPES = {
  mp3: 'audio/mpeg',
  opus: 'audio/opus',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
} as const

/** The container where the request has none. */
export const USUAL_TYPE = 'audio/mpeg'

/** The media type of a value; undefined for an unknown one. */
export const mediaTypeOf = (value: string): string | undefined =>
  Object.hasOwn(TYPES, value) ? TYPES[value as keyof typeof TYPES] : undefined

/** The text-to-speech request, FORMATS §12. Loose: unknown fields pass. */
export const request = shape({
  model: v.string(),
  input: v.string(),
  voice: maybe(v.union([v.string(), shape({ id: v.string() })])),
  instructions: maybeText,
  response_format: maybe(v.picklist(Object.keys(TYPES))),
  speed: maybe(v.number()),
  stream_format: maybe(v.picklist(['audio', 'sse'])),
})
