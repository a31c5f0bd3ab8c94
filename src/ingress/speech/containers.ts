export const FORMAT = 'speech'

/** The values of `response_format` (FORMATS §12). */
export const TYPES = {
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
