export const FORMAT = 'speech'

/** The words of `response_format` (FORMATS §12); any other is taken for the name of a media type. */
const TYPES: { readonly [word: string]: string } = {
  mp3: 'audio/mpeg',
  opus: 'audio/opus',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
}

/** What comes where nobody says which container is wanted. */
export const USUAL_TYPE = 'audio/mpeg'

export const isWord = (word: string): boolean => Object.hasOwn(TYPES, word)

export const mediaTypeOf = (word: string): string => (isWord(word) ? TYPES[word]! : `audio/${word}`)
