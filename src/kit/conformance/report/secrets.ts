/* Removes keys from reports, in any encoding in which a target or peer may have returned them. */

/**
 * Length of the pieces of a key that are removed everywhere, in characters. A key may be split between two deltas.
 */
const PIECE_LENGTH = 8

/**
 * Minimum length of a key that is removed, in characters. A shorter text is not a secret and would match everywhere.
 */
const MIN_KEY_LENGTH = 4

const PLACEHOLDER = '[key]'

const percent = (key: string, digits: (hex: string) => string): string =>
  [...Buffer.from(key)].map(byte => `%${digits(byte.toString(16).padStart(2, '0'))}`).join('')

/**
 * Returns the key in base64 at each of the three byte offsets, without the characters that depend on adjacent bytes.
 */
const base64Forms = (key: string): string[] =>
  [0, 1, 2].map(offset => {
    const text = Buffer.from(`${' '.repeat(offset)}${key}`)
      .toString('base64')
      .replace(/={1,2}$/, '')
    const start = offset === 0 ? 0 : offset + 1
    return text.slice(start, text.length - 1)
  })

const formsOf = (key: string): string[] => {
  const base64 = base64Forms(key)
  const hex = Buffer.from(key).toString('hex')
  return [
    ...[key, encodeURIComponent(key), JSON.stringify(key).slice(1, -1), hex, hex.toUpperCase()],
    ...[percent(key, digits => digits.toUpperCase()), percent(key, digits => digits)],
    ...[...base64, ...base64.map(text => text.replaceAll('+', '-').replaceAll('/', '_'))],
  ]
}

/** Returns a function that replaces keys, their encodings and pieces of them in a string. */
export function redactor(...keys: readonly string[]): (text: string) => string {
  const byLength = Map.groupBy(
    keys.filter(key => key.length >= MIN_KEY_LENGTH),
    key => Math.min(PIECE_LENGTH, key.length),
  )
  const passes = [...byLength].map(([length, alike]) => removePieces(alike, length))
  return text => passes.reduce((clean, remove) => remove(clean), text)
}

/** Removes all pieces of keys that have the given length. */
function removePieces(keys: readonly string[], length: number): (text: string) => string {
  const pieces = new Set<string>()
  for (const form of keys.flatMap(formsOf))
    for (let index = 0; index + length <= form.length; index++) pieces.add(form.slice(index, index + length))
  return text => {
    let clean = ''
    let kept = 0
    for (let index = 0; index + length <= text.length; index++) {
      if (!pieces.has(text.slice(index, index + length))) continue
      let end = index + length
      while (end < text.length && pieces.has(text.slice(end - length + 1, end + 1))) end++
      clean += text.slice(kept, index) + PLACEHOLDER
      kept = end
      index = end - 1
    }
    return clean + text.slice(kept)
  }
}

/** Copies a value and changes every string in it, including field names. */
export function withTexts<T>(value: T, change: (text: string) => string): T {
  const visit = (one: unknown): unknown => {
    if (typeof one === 'string') return change(one)
    if (Array.isArray(one)) return one.map(visit)
    if (typeof one !== 'object' || one === null) return one
    return Object.fromEntries(Object.entries(one).map(([name, inner]) => [change(name), visit(inner)]))
  }
  return visit(value) as T
}
