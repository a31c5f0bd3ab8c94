/* Content types of whole answers. */

export const isJson = (type: string): boolean => type === 'application/json'

/** Aliases of content types. */
const ALIKE: { readonly [type: string]: readonly string[] } = {
  'audio/mpeg': ['audio/mp3'],
  'audio/wav': ['audio/x-wav', 'audio/wave', 'audio/vnd.wave'],
  'audio/opus': ['audio/ogg'],
  'audio/flac': ['audio/x-flac'],
  'audio/pcm': ['audio/l16'],
  'text/plain': ['text/vtt', 'text/srt', 'application/x-subrip'],
}

/** The type that OpenAI's description gives to any audio. */
const ANY_BYTES = 'application/octet-stream'

/** Returns true if a header names a content type or one of its aliases. Parameters are ignored. */
export function isContentType(header: string, type: string): boolean {
  const named = header.split(';')[0]!.trim().toLowerCase()
  const isUntold = named === ANY_BYTES && type.startsWith('audio/')
  return named === type || isUntold || (ALIKE[type]?.includes(named) ?? false)
}

/** The usual name of a content type, without parameters. */
export function usualType(type: string): string {
  const named = type.split(';')[0]!.trim().toLowerCase()
  return Object.keys(ALIKE).find(usual => usual.startsWith('audio/') && ALIKE[usual]!.includes(named)) ?? named
}
