/* Containers of recordings (docs/wire/speech.md#request). */

/** `response_format` for each media type and its aliases. */
const CONTAINERS: { readonly [mediaType: string]: string } = {
  ...{ 'audio/mpeg': 'mp3', 'audio/mp3': 'mp3', 'audio/wav': 'wav', 'audio/x-wav': 'wav', 'audio/wave': 'wav' },
  ...{ 'audio/pcm': 'pcm', 'audio/l16': 'pcm', 'audio/pcm16': 'pcm', 'audio/opus': 'opus', 'audio/ogg': 'opus' },
  ...{ 'audio/aac': 'aac', 'audio/flac': 'flac', 'audio/x-flac': 'flac' },
}

const TYPES: { readonly [container: string]: string } = { mp3: 'audio/mpeg' }

/**
 * Returns the `response_format` for a media type, and the media type that readers derive from it, or undefined if the
 * format has none.
 */
export function containerOf(mediaType: string): { readonly container: string; readonly mediaType: string } | undefined {
  const type = mediaType.split(';')[0]!.trim().toLowerCase()
  if (!Object.hasOwn(CONTAINERS, type)) return undefined
  const container = CONTAINERS[type]!
  return { container, mediaType: Object.hasOwn(TYPES, container) ? TYPES[container]! : `audio/${container}` }
}
