const MILLISECONDS: { readonly [unit: string]: number } = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
/** A pattern of durations. */
export const DURATION_PATTERN = String.raw`\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)\s*`
const DURATION = new RegExp(`^${DURATION_PATTERN}$`)

/** `500ms`, `5s`, `2m`, `1h` or `30d` in milliseconds; undefined for any other text. */
export function milliseconds(text: string): number | undefined {
  const match = DURATION.exec(text)
  return match === null ? undefined : Math.round(Number(match[1]) * MILLISECONDS[match[2]!]!)
}

/** A pattern of the durations of up to so many days. */
export function durationsUpTo(days: number): string {
  const units = Object.entries(MILLISECONDS)
  const each = units.map(([unit, size]) => String.raw`${numbersUpTo((days * MILLISECONDS['d']!) / size)}\s*${unit}`)
  return String.raw`\s*(?:${each.join('|')})\s*`
}

/** A pattern of the decimal numbers up to a whole one: those with fewer digits, with a smaller digit first, and itself. */
function numbersUpTo(most: number): string {
  const digits = [...String(most)]
  const shorter = digits.length === 1 ? [] : [String.raw`\d{1,${digits.length - 1}}`]
  const smaller = digits.flatMap((digit, at) =>
    digit === '0'
      ? []
      : [String.raw`${digits.slice(0, at).join('')}[0-${Number(digit) - 1}]\d{${digits.length - at - 1}}`],
  )
  return String.raw`0*(?:(?:${[...shorter, ...smaller].join('|')})(?:\.\d+)?|${most}(?:\.0+)?)`
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
const SIZE = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/

/** `32MiB`, `500KB` or `1024` in bytes; undefined for any other text. */
export function bytes(text: string): number | undefined {
  const match = SIZE.exec(text.trim().toLowerCase())
  const unit = match === null ? undefined : BYTES[match[2] === '' ? 'b' : match[2]!]
  return unit === undefined ? undefined : Math.round(Number(match![1]) * unit)
}

/**
 * A pattern of ISO 8601: a day in UTC, or an instant with its offset (RFC 3339), from 1970 to 9999. Whatever else the
 * engine reads has several meanings.
 */
export const INSTANT_PATTERN = [
  String.raw`(?:19[7-9]\d|[2-9]\d{3})-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])`,
  String.raw`(?:[Tt](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d))?`,
].join('')
const INSTANT = new RegExp(`^${INSTANT_PATTERN}$`)
/** The first instant of the year 10000, which has no time of four digits. */
const END = 253_402_300_800_000

/** Whether Unix milliseconds are an instant that can be written as ISO 8601, with a year of four digits. */
export const isInstant = (at: number): boolean => at >= 0 && at < END

/**
 * A time as ISO 8601 in Unix milliseconds, undefined for any other text. An offset that leads out of the years 1970 to
 * 9999 counts as far as their edge.
 */
export const instant = (text: string): number | undefined =>
  INSTANT.test(text.trim()) ? Math.min(Math.max(Date.parse(text.trim()), 0), END - 1) : undefined
