import { common } from './i18n/common.ts'
import { locale } from './i18n/index.ts'

/** Locale of numbers: US English abbreviates a million as M, British English as m. */
const numerals = (): string => (locale.value === 'en-GB' ? 'en-US' : locale.value)

/** Formats a number: `12,345`, or `1.2M` with `short`. */
export const number = (value: number, { short = false } = {}): string =>
  new Intl.NumberFormat(numerals(), short ? { notation: 'compact', maximumFractionDigits: 1 } : {}).format(value)

/** Formats US dollars: `$12.30`, `$0.0042` below 10 cents, `unknown` for undefined; with `round`, `$12` for `$12.00`. */
export function money(dollars: number | undefined, { round = false } = {}): string {
  if (dollars === undefined) return common().unknown
  const digits =
    dollars !== 0 && Math.abs(dollars) < 0.1 ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: 2 }
  const least = dollars !== 0 && Math.abs(dollars) < 0.1 ? {} : { minimumFractionDigits: 2 }
  const zeros = round ? { trailingZeroDisplay: 'stripIfInteger' as const } : {}
  return `$${new Intl.NumberFormat(numerals(), { ...digits, ...least, ...zeros }).format(dollars)}`
}

/** Formats a share between 0 and 1: `12.3%`. */
export const percent = (share: number): string =>
  new Intl.NumberFormat(locale.value, { style: 'percent', maximumFractionDigits: 1 }).format(share)

/** Formats a duration: `420 ms`, `1.2 s`, `3 min`. */
export function duration(milliseconds: number): string {
  const [unit, size] = DURATIONS.find(([, least]) => milliseconds >= least) ?? DURATIONS.at(-1)!
  return `${number(Number((milliseconds / size).toPrecision(size === 1 ? 4 : 3)))} ${unit}`
}
const DURATIONS = [
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
  ['ms', 1],
] as const

/** Formats a time. What is none, such as a misspelt time in a page's address, is returned as it is. */
function formatted(at: string | number | Date, options: Intl.DateTimeFormatOptions): string {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? String(at) : new Intl.DateTimeFormat(locale.value, options).format(date)
}

/** Formats a date with its time, in the browser's time zone. */
export const time = (at: string | number | Date, style: 'short' | 'full' = 'short'): string =>
  formatted(
    at,
    style === 'full' ? { dateStyle: 'full', timeStyle: 'long' } : { dateStyle: 'medium', timeStyle: 'short' },
  )

/** Formats a time of today without the date, any other with it. */
export const timeOrDay = (at: string | number | Date): string =>
  new Date(at).toDateString() === new Date().toDateString() ? formatted(at, { timeStyle: 'short' }) : time(at)

/** Formats a date, in the browser's time zone. */
export const day = (at: string | number | Date): string => formatted(at, { dateStyle: 'medium' })

/** Formats a time relative to now: `3 minutes ago`, `in 2 days`. */
export function ago(at: string | number | Date, now = Date.now()): string {
  const seconds = (new Date(at).getTime() - now) / 1000
  const [unit, size] = AGES.find(([, least]) => Math.abs(seconds) >= least) ?? AGES.at(-1)!
  return new Intl.RelativeTimeFormat(locale.value, { numeric: 'auto' }).format(Math.round(seconds / size), unit)
}
const AGES = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const
