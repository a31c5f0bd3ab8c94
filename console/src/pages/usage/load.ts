import { ProblemError } from '../../api/problem.ts'
import { get } from '../../api/request.ts'
import type { Usage, UsageSum } from '../../api/types.ts'
import type { Field, Where } from './fields.ts'
import { MEASURES } from './metrics.ts'
import type { Every, Range, Span } from './ranges.ts'
import type { Metric } from './view.ts'

/** Groups that have a colour of their own. */
const TOP = 6
export const MOST = 10_000

/** An address below the admin API; empty values of filters stay. */
export function pathOf(path: string, query: { readonly [name: string]: string | number | true }, where: Where): string {
  const all = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) all.set(name, value === true ? '' : String(value))
  for (const [field, value] of Object.entries(where)) all.set(field, value)
  return `${path}?${all}`
}

export const spanOf = ({ since, until }: Span) => ({
  since: new Date(since).toISOString(),
  until: new Date(until).toISOString(),
})

const exactly = (exact: boolean) => (exact ? ({ exact: true } as const) : {})

const sums = async (query: Parameters<typeof pathOf>[1], where: Where, signal: AbortSignal) =>
  (await get<Usage>(pathOf('/usage', query, where), undefined, signal)).data

/** The sum of a whole range; undefined where it has no requests. */
export const loadTotal = async (
  span: Span,
  exact: boolean,
  where: Where,
  signal: AbortSignal,
): Promise<UsageSum | undefined> =>
  (await sums({ ...spanOf(span), percentiles: true, ...exactly(exact) }, where, signal))[0]

export const loadGroups = (range: Range, by: Field, where: Where, signal: AbortSignal) =>
  sums({ ...spanOf(range), by, percentiles: true, limit: MOST, ...exactly(range.exact) }, where, signal)

/** The values that a field has in a range, those of most requests first. */
export const loadValues = (range: Range, by: Field, where: Where, signal: AbortSignal) =>
  sums({ ...spanOf(range), by, limit: 1000 }, where, signal)

/** Sums over time: of the largest groups and of all others, or of everything. */
export const loadSeries = (range: Range, by: Field | '', metric: Metric, where: Where, signal: AbortSignal) => {
  const top = by === '' ? {} : { by, top: TOP, rank: MEASURES[metric].rank }
  return sums({ ...spanOf(range), every: range.every, percentiles: true, limit: MOST, ...top }, where, signal)
}

/** A range as it can be counted: by the hour, where it has too many requests to count each. */
export async function counted<T>(
  range: Range,
  load: (range: Range) => Promise<T>,
): Promise<{ readonly range: Range; readonly data: T }> {
  try {
    return { range, data: await load(range) }
  } catch (thrown) {
    const isTooMuch = thrown instanceof ProblemError && thrown.status === 400 && range.exact
    if (!isTooMuch) throw thrown
    const every: Every = 'hour'
    const byHour: Range = { ...range, every, exact: false }
    return { range: byHour, data: await load(byHour) }
  }
}
