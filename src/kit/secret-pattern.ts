/** Minimum length of a secret to search for, in characters. */
export const SHORTEST_KEY = 4
/** Minimum length of a secret to search for in base64 as well, in characters. */
const MIN_BASE64_LENGTH = 8

/**
 * Compiles secrets, in every encoding in which a server may return them, into one pattern. The longest secrets come
 * first, because one secret may begin with another.
 *
 * @param isWithinBase64 whether a secret is also found in the middle of a longer text in base64.
 */
export function patternOf(secrets: readonly string[], isWithinBase64 = false): RegExp | undefined {
  const long = secrets.filter(({ length }) => length >= SHORTEST_KEY)
  const plain = new Set(long)
  const forms = new Set([...long.flatMap(encodings), ...(isWithinBase64 ? long.flatMap(formsWithinBase64) : [])])
  if (forms.size === 0) return undefined
  return new RegExp(
    [...forms]
      .sort((a, b) => b.length - a.length)
      .map(form => (plain.has(form) ? inAnyEscape(form) : escapeRegExp(form)))
      .join('|'),
    'gi',
  )
}

/** Maximum number of different secrets of a request. Searching texts for more would hold up everything else. */
const MAX_SECRETS = 250

/** Returns the different secrets of a request. Throws Error if there are too many to search for. */
export function differentSecrets(secrets: readonly string[]): readonly string[] {
  const different = [...new Set(secrets)]
  if (different.length > MAX_SECRETS) throw new Error(`the request has more than ${MAX_SECRETS} secrets`)
  return different
}

/** Matches characters that some program escapes. Almost all keys have none of them. */
const ESCAPED = /[^\w~-]/g

/**
 * Returns the source of a pattern for a text in which programs escaped characters, each in its own way: in JSON within
 * texts, for addresses, also twice, and for HTML. The number of escapes within each other is bounded, so that the
 * pattern takes linear time.
 */
const inAnyEscape = (text: string): string => text.replace(ESCAPED, escapesOf)

function escapesOf(character: string): string {
  const code = character.charCodeAt(0)
  const hex = code.toString(16).padStart(2, '0')
  const escapes = [
    `\\\\{0,8}${escapeRegExp(character)}`,
    `\\\\{1,8}u${hex.padStart(4, '0')}`,
    `&#0{0,4}(?:${code}|x${hex});`,
  ]
  return `(?:${[...escapes, ...(code < 128 ? [`%(?:25){0,3}${hex}`] : [])].join('|')})`
}

/** Escapes a text for a regular expression. Node before 24 lacks `RegExp.escape`. */
const escapeRegExp = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')

function encodings(secret: string): string[] {
  const escaped = JSON.stringify(secret).slice(1, -1)
  const bare = [
    ...[secret, escaped, JSON.stringify(escaped).slice(1, -1), secret.trim(), urlEncoded(secret), formEncoded(secret)],
    // JSON inside a text, as PHP and as Gson write it.
    ...[escaped.replaceAll('/', '\\/'), escaped.replace(/[<>&='+]/g, asUnicodeEscape)],
  ]
  const base64 =
    secret.length < MIN_BASE64_LENGTH ? [] : (['base64', 'base64url'] as const).map(name => inBase64(secret, name))
  return [...bare, ...base64].filter(({ length }) => length >= SHORTEST_KEY)
}

/** Encodes a text for a URL. `encodeURIComponent` alone throws on half of a surrogate pair. */
const urlEncoded = (text: string): string => encodeURIComponent(text.toWellFormed())

/** Encodes a text as a value of a form, whose blanks are `+`. */
const formEncoded = (text: string): string => new URLSearchParams({ '': text.toWellFormed() }).toString().slice(1)

const asUnicodeEscape = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Returns how a secret appears within base64: its whole characters, at each of the three offsets. */
function formsWithinBase64(secret: string): string[] {
  const bytes = Buffer.from(secret)
  if (secret.length < MIN_BASE64_LENGTH) return []
  return (['base64', 'base64url'] as const).flatMap(name =>
    [0, 1, 2].map(offset => {
      const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString(name)
      return text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6))
    }),
  )
}

/** Encodes a text in base64 without padding, because other text may follow it. */
export const inBase64 = (text: string, name: 'base64' | 'base64url'): string =>
  Buffer.from(text)
    .toString(name)
    .replace(/={1,2}$/, '')
