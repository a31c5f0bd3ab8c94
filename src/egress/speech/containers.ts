export const FORMAT = 'speech'

/** The word of `response_format` for each media type, and for what else it is called. */
const WORDS: { readonly [mediaType: string]: string } = {
  ...{ 'audio/mpeg': 'mp3', 'audio/mp3': 'mp3', 'audio/wav': 'wav', 'audio/x-wav': 'wav', 'audio/wave': 'wav' },
  ...{ 'audio/pcm': 'pcm', 'audio/l16': 'pcm', 'audio/pcm16': 'pcm', 'audio/opus': 'opus', 'audio/ogg': 'opus' },
  ...{ 'audio/aac': 'aac', 'audio/flac': 'flac', 'audio/x-flac': 'flac' },
}

const TYPES: { readonly [word: string]: string } = { mp3: 'audio/mpeg' }

/** The word for a media type, and the media type that it is read back as; undefined where the format has none. */
export function wordOf(mediaType: string): { readonly word: string; readonly mediaType: string } | undefined {
  const type = mediaType.split(';')[0]!.trim().toLowerCase()
  if (!Object.hasOwn(WORDS, type)) return undefined
  const word = WORDS[type]!
  return { word, mediaType: Object.hasOwn(TYPES, word) ? TYPES[word]! : `audio/${word}` }
}
