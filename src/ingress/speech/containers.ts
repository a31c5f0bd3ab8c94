export const FORMAT = 'speech'

/** The words of `response_format` (FORMATS §12). */
export const TYPES = {
  mp3: 'audio/mpeg',
  opus: 'audio/opus',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
} as const

/** What comes where nobody says which container is wanted. */
export const USUAL_TYPE = 'audio/mpeg'

/** The media type the word stands for; undefined for a word that is none of them. */
export const mediaTypeOf = (word: string): string | undefined =>
  Object.hasOwn(TYPES, word) ? TYPES[word as keyof typeof TYPES] : undefined
