/** Minimum length of a secret to search for, and to search for in base64 as well, in characters. */
export const SHORTEST_KEY = 4
const SHORTEST = 8

/**
 * Compiles secrets, in every encoding in which a server may return them, into one pattern. The longest secrets come
 * first, because one secret may begin with another.
 */
export function patternOf(secrets: readonly string[]): RegExp | undefined {
  const known = new Set(secrets.filter(({ length }) => length >= SHORTEST_KEY).flatMap(spellings))
  if (known.size === 0) return undefined
  return new RegExp(
    [...known]
      .sort((a, b) => b.length - a.length)
      .map(literally)
      .join('|'),
    'gi',
  )
}

/** Escapes a text for a regular expression. Node before 24 lacks `RegExp.escape`. */
const literally = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')

function spellings(secret: string): string[] {
  const escaped = JSON.stringify(secret).slice(1, -1)
  const bare = [secret, escaped, JSON.stringify(escaped).slice(1, -1), encoded(secret), secret.trim()]
  const base64 = secret.length < SHORTEST ? [] : (['base64', 'base64url'] as const).map(name => inBase64(secret, name))
  return [...bare, ...base64].filter(({ length }) => length >= SHORTEST_KEY)
}

/** Encodes a text for a URL. `encodeURIComponent` alone throws on half of a surrogate pair. */
const encoded = (text: string): string => encodeURIComponent(text.toWellFormed())

const inBase64 = (text: string, name: 'base64' | 'base64url'): string =>
  Buffer.from(text).toString(name).replace(/=+$/, '')
