/* Content types of whole answers. */

export const isJson = (type: string): boolean => type === 'application/json'

/** Aliases of content types. */
const ALIASES: { readonly [type: string]: readonly string[] } = {
  'audio/mpeg': ['audio/mp3'],
  'audio/wav': ['audio/x-wav', 'audio/wave', 'audio/vnd.wave'],
  'audio/opus': ['audio/ogg'],
  'audio/flac': ['audio/x-flac'],
  'audio/pcm': ['audio/l16'],
  'text/plain': ['text/vtt', 'text/srt', 'application/x-subrip'],
}

/** The type that OpenAI's description gives to any audio. */
const OCTET_STREAM = 'application/octet-stream'

/** Returns true if a header names a content type or one of its aliases. Parameters are ignored. */
export function isContentType(header: string, type: string): boolean {
  const typeName = header.split(';')[0]!.trim().toLowerCase()
  const isUnspecifiedAudio = typeName === OCTET_STREAM && type.startsWith('audio/')
  return typeName === type || isUnspecifiedAudio || (ALIASES[type]?.includes(typeName) ?? false)
}

/** The usual name of a content type, without parameters. */
export function canonicalType(type: string): string {
  const typeName = type.split(';')[0]!.trim().toLowerCase()
  return (
    Object.keys(ALIASES).find(usual => usual.startsWith('audio/') && ALIASES[usual]!.includes(typeName)) ?? typeName
  )
}
