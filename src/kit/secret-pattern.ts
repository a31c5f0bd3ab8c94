/** Minimum length of a secret to search for, in characters. */
export const SHORTEST_KEY = 4
/** Minimum length of a secret to search for in base64 as well, in characters. */
const MIN_BASE64_LENGTH = 8

/**
 * Compiles secrets, in every encoding in which a server may return them, into one pattern. The longest secrets come
 * first, because one secret may begin with another.
 */
export function patternOf(secrets: readonly string[]): RegExp | undefined {
  const forms = new Set(secrets.filter(({ length }) => length >= SHORTEST_KEY).flatMap(encodings))
  if (forms.size === 0) return undefined
  return new RegExp(
    [...forms]
      .sort((a, b) => b.length - a.length)
      .map(escapeRegExp)
      .join('|'),
    'gi',
  )
}

/** Escapes a text for a regular expression. Node before 24 lacks `RegExp.escape`. */
const escapeRegExp = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')

function encodings(secret: string): string[] {
  const escaped = JSON.stringify(secret).slice(1, -1)
  const bare = [secret, escaped, JSON.stringify(escaped).slice(1, -1), urlEncoded(secret), secret.trim()]
  const base64 =
    secret.length < MIN_BASE64_LENGTH ? [] : (['base64', 'base64url'] as const).map(name => inBase64(secret, name))
  return [...bare, ...base64].filter(({ length }) => length >= SHORTEST_KEY)
}

/** Encodes a text for a URL. `encodeURIComponent` alone throws on half of a surrogate pair. */
const urlEncoded = (text: string): string => encodeURIComponent(text.toWellFormed())

/** Encodes a text in base64 without padding, because other text may follow it. */
export const inBase64 = (text: string, name: 'base64' | 'base64url'): string =>
  Buffer.from(text)
    .toString(name)
    .replace(/={1,2}$/, '')
