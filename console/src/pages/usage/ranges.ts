import type { RangeName, View } from './view.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

export type Every = 'minute' | 'hour' | 'day'
export const STEPS: { readonly [E in Every]: number } = { minute: MINUTE, hour: HOUR, day: DAY }

/** Unix milliseconds from, and before which. */
export interface Span {
  readonly since: number
  readonly until: number
}

export interface Range extends Span {
  /** The interval between two points of the chart. */
  readonly every: Every
  /** The requests themselves are counted, as sums are of whole hours. */
  readonly exact: boolean
  /** As much time before. */
  readonly before: Span
}

/** Beginnings of ranges that end now, and the intervals that they have so many of. */
const RECENT: { readonly [R in Exclude<RangeName, 'days'>]: readonly [Every, number] } = {
  ...{ '1h': ['minute', 60], '24h': ['hour', 24], '7d': ['hour', 168], '30d': ['day', 30] },
}

/** Days from which on a chart of hours has too many points. */
const MANY_DAYS = 14

const floor = (at: number, step: number): number => Math.floor(at / step) * step

/** The range of a view. What is before is as long as what has passed of it, to the hour where hours are counted. */
export function rangeOf({ range, from, to }: Pick<View, 'range' | 'from' | 'to'>, now: number): Range {
  const [every, since, until] = range === 'days' ? daysOf(from, to) : recent(...RECENT[range], now)
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

function daysOf(from: string, to: string): readonly [Every, number, number] {
  const [since, until] = [Date.parse(from), Date.parse(to) + DAY]
  return [(until - since) / DAY > MANY_DAYS ? 'day' : 'hour', since, until]
}

/** The beginnings of the intervals of a range that have begun, in Unix milliseconds. */
export function pointsOf({ since, until }: Span, every: Every, now: number): readonly number[] {
  const step = STEPS[every]
  const first = floor(since, step)
  const count = Math.max(1, Math.ceil((Math.min(until, now) - first) / step))
  return Array.from({ length: Math.min(count, 2000) }, (_, at) => first + at * step)
}

/** The day of a time, as fields of days have it. */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)
