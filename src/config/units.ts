const MILLISECONDS: { readonly [unit: string]: number } = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
/** Regular expression source for durations. */
export const DURATION_PATTERN = String.raw`\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)\s*`
const DURATION = new RegExp(`^${DURATION_PATTERN}$`)

/** Parses `500ms`, `5s`, `2m`, `1h` or `30d` into milliseconds. Returns undefined for any other text. */
export function milliseconds(text: string): number | undefined {
  const match = DURATION.exec(text)
  return match === null ? undefined : Math.round(Number(match[1]) * MILLISECONDS[match[2]!]!)
}

/** Returns a regular expression source for durations up to a number of days. */
export function durationsUpTo(days: number): string {
  const units = Object.entries(MILLISECONDS)
  const each = units.map(([unit, size]) => String.raw`${numbersUpTo((days * MILLISECONDS['d']!) / size)}\s*${unit}`)
  return String.raw`\s*(?:${each.join('|')})\s*`
}

/**
 * Returns a regular expression source for decimal numbers up to `max`: numbers with fewer digits, numbers that are
 * smaller from some digit on, and `max` itself.
 */
function numbersUpTo(max: number): string {
  const digits = [...String(max)]
  const shorter = digits.length === 1 ? [] : [String.raw`\d{1,${digits.length - 1}}`]
  const smaller = digits.flatMap((digit, at) =>
    digit === '0'
      ? []
      : [String.raw`${digits.slice(0, at).join('')}[0-${Number(digit) - 1}]\d{${digits.length - at - 1}}`],
  )
  return String.raw`0*(?:(?:${[...shorter, ...smaller].join('|')})(?:\.\d+)?|${max}(?:\.0+)?)`
}

const BYTES: { readonly [unit: string]: number } = {
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
}
const SIZE_PATTERN = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/

/** Parses `32MiB`, `500KB` or `1024` into bytes. Returns undefined for any other text. */
export function bytes(text: string): number | undefined {
  const match = SIZE_PATTERN.exec(text.trim().toLowerCase())
  const unit = match === null ? undefined : BYTES[match[2] === '' ? 'b' : match[2]!]
  return unit === undefined ? undefined : Math.round(Number(match![1]) * unit)
}

/** Regular expression source that refuses days which their month does not have. `Date.parse` takes them for later ones. */
const EXISTING_DAY = [
  String.raw`(?!\d{4}-(?:02-3|(?:0[469]|11)-31))`,
  String.raw`(?!(?!\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)\d{4}-02-29)`,
].join('')

/**
 * Regular expression source for ISO 8601: a day in UTC, or an instant with its offset (RFC 3339), from 1970 to 9999.
 * Other forms that `Date.parse` accepts are ambiguous.
 */
export const INSTANT_PATTERN = [
  EXISTING_DAY,
  String.raw`(?:19[7-9]\d|[2-9]\d{3})-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])`,
  String.raw`(?:[Tt](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d))?`,
].join('')
const INSTANT = new RegExp(`^${INSTANT_PATTERN}$`)
/** Start of the year 10000, which four digits cannot express, in Unix milliseconds. */
const YEAR_10000 = 253_402_300_800_000

/** Returns true if a time in Unix milliseconds can be written as ISO 8601 with a four-digit year. */
export const isInstant = (at: number): boolean => at >= 0 && at < YEAR_10000

/**
 * Parses ISO 8601 into Unix milliseconds. Returns undefined for any other text. A time whose offset leads out of 1970
 * to 9999 is clamped to that range.
 */
export const instant = (text: string): number | undefined =>
  INSTANT.test(text.trim()) ? Math.min(Math.max(Date.parse(text.trim()), 0), YEAR_10000 - 1) : undefined
