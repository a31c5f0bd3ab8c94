import type { RangeName, View } from './view.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

export type Every = 'minute' | 'hour' | 'day'
/** Length of each interval, in milliseconds. */
export const STEPS: { readonly [E in Every]: number } = { minute: MINUTE, hour: HOUR, day: DAY }

/** Time span in Unix milliseconds: `since` is included, `until` is not. */
export interface Span {
  readonly since: number
  readonly until: number
}

/** A span with the interval of its chart. */
export interface Range extends Span {
  /** Interval between two points of the chart. */
  readonly every: Every
  /** Whether single requests are counted instead of stored sums, which cover whole hours. */
  readonly exact: boolean
  /** Preceding span, for comparison. */
  readonly before: Span
}

/** Interval and number of intervals of each range that ends now. */
const RECENT: { readonly [R in Exclude<RangeName, 'days'>]: readonly [Every, number] } = {
  ...{ '1h': ['minute', 60], '24h': ['hour', 24], '7d': ['hour', 168], '30d': ['day', 30] },
}

/**
 * Maximum length of a range shown by the hour, in days. Longer ranges are shown by day, because hours would be too many
 * points.
 */
const MANY_DAYS = 14
/** Age of a range from which it is shown by day, in days. The gateway deletes hourly sums a day later. */
const OLD_DAYS = 59

const floor = (at: number, step: number): number => Math.floor(at / step) * step

/** Range of a view. The preceding span is as long as the part of the range that has passed, rounded to the step. */
export function rangeOf({ range, from, to }: Pick<View, 'range' | 'from' | 'to'>, now: number): Range {
  const [every, since, until] = range === 'days' ? daysOf(from, to, now) : recent(...RECENT[range], now)
  const step = every === 'minute' ? MINUTE : HOUR
  const length = until - since
  const passed = Math.max(step, Math.round((Math.min(until, now) - since) / step) * step)
  const before = { since: since - length, until: since - length + passed }
  return { every, since, until, exact: every === 'minute', before }
}

function recent(every: Every, count: number, now: number): readonly [Every, number, number] {
  const step = STEPS[every]
  const until = floor(now, step) + step
  return [every, until - count * step, until]
}

function daysOf(from: string, to: string, now: number): readonly [Every, number, number] {
  const [since, until] = [Date.parse(from), Date.parse(to) + DAY]
  const isByDay = until - since > MANY_DAYS * DAY || since < now - OLD_DAYS * DAY
  return [isByDay ? 'day' : 'hour', since, until]
}

/** Starts of the intervals of a span up to now, in Unix milliseconds. */
export function pointsOf({ since, until }: Span, every: Every, now: number): readonly number[] {
  const step = STEPS[every]
  const first = floor(since, step)
  const count = Math.max(1, Math.ceil((Math.min(until, now) - first) / step))
  return Array.from({ length: Math.min(count, 2000) }, (_, at) => first + at * step)
}

/** UTC date of a time, in the form that `date` fields use. */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)
