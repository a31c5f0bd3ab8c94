import * as v from 'valibot'
import { maybe, maybeText, shape } from '../errors/validation-error.ts'

export const FORMAT = 'speech'

/** Media types by value of `response_format` (docs/wire/speech.md#response). */
const MEDIA_TYPES = {
  mp3: 'audio/mpeg',
  opus: 'audio/opus',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
  /** Together's name of raw samples. */
  raw: 'audio/pcm',
} as const

/** Media type if the request does not specify one. */
export const DEFAULT_TYPE = 'audio/mpeg'

/** Returns the media type for a value of `response_format`, or undefined for an unknown value. */
export const mediaTypeOf = (value: string): string | undefined =>
  Object.hasOwn(MEDIA_TYPES, value) ? MEDIA_TYPES[value as keyof typeof MEDIA_TYPES] : undefined

/** Schema of the text-to-speech request (docs/wire/speech.md#request). Unknown fields are accepted. */
export const request = shape({
  model: v.string(),
  input: v.string(),
  voice: maybe(v.union([v.string(), shape({ id: v.string() })])),
  voice_id: maybeText,
  instructions: maybeText,
  response_format: maybe(v.picklist(Object.keys(MEDIA_TYPES))),
  speed: maybe(v.number()),
  stream_format: maybe(v.picklist(['audio', 'sse'])),
})
