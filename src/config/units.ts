const MILLISECONDS: { readonly [unit: string]: number } = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const DURATION = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)$/

/** `500ms`, `5s`, `2m`, `1h` or `30d` in milliseconds; undefined for any other text. */
export function milliseconds(text: string): number | undefined {
  const match = DURATION.exec(text.trim())
  return match === null ? undefined : Math.round(Number(match[1]) * MILLISECONDS[match[2]!]!)
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

/** ISO 8601: a day in UTC, or an instant with its offset (RFC 3339). Whatever else the engine reads has several meanings. */
const INSTANT = /^\d{4}-\d\d-\d\d(?:[Tt]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d\d:\d\d))?$/
/** The first instant of the year 10000, which has no time of four digits. */
const END = 253_402_300_800_000

/** Whether Unix milliseconds are an instant that can be written as ISO 8601, with a year of four digits. */
export const isInstant = (at: number): boolean => at >= 0 && at < END

/** A time as ISO 8601 in Unix milliseconds; undefined for any other text. */
export function instant(text: string): number | undefined {
  const at = INSTANT.test(text.trim()) ? Date.parse(text.trim()) : Number.NaN
  return isInstant(at) ? at : undefined
}
