import { ProblemError } from '../../api/problem.ts'
import { get } from '../../api/request.ts'
import type { Usage, UsageSum } from '../../api/types.ts'
import type { Field, Where } from './fields.ts'
import { MEASURES } from './metrics.ts'
import type { Every, Range, Span } from './ranges.ts'
import type { Metric } from './view.ts'

/** Number of groups shown as series of their own. The rest is summed up. */
const TOP = 6
/** Maximum number of rows in one response. */
export const MOST = 10_000

/** Path with query and filters. Unlike elsewhere, empty filter values stay in the query. */
export function pathOf(path: string, query: { readonly [name: string]: string | number | true }, where: Where): string {
  const all = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) all.set(name, value === true ? '' : String(value))
  for (const [field, value] of Object.entries(where)) all.set(field, value)
  return `${path}?${all}`
}

/** Converts a span to API parameters. */
export const spanOf = ({ since, until }: Span) => ({
  since: new Date(since).toISOString(),
  until: new Date(until).toISOString(),
})

const exactly = (exact: boolean) => (exact ? ({ exact: true } as const) : {})

type Query = Parameters<typeof pathOf>[1]

const load = (query: Query, where: Where, signal: AbortSignal): Promise<Usage> =>
  get<Usage>(pathOf('/usage', query, where), undefined, signal)
const sums = async (query: Query, where: Where, signal: AbortSignal) => (await load(query, where, signal)).data

/** Rows of one response. */
export interface Rows {
  readonly sums: readonly UsageSum[]
  /** False if there are more rows than fit, so that those with the fewest requests are missing. */
  readonly complete: boolean
}

const rows = async (query: Query, where: Where, signal: AbortSignal): Promise<Rows> => {
  const { data, complete } = await load({ ...query, limit: MOST }, where, signal)
  return { sums: data, complete }
}

/** Loads the total of a span. Undefined without requests. */
export const loadTotal = async (
  span: Span,
  exact: boolean,
  where: Where,
  signal: AbortSignal,
): Promise<UsageSum | undefined> =>
  (await sums({ ...spanOf(span), percentiles: true, ...exactly(exact) }, where, signal))[0]

/** Loads the totals of all groups. */
export const loadGroups = (range: Range, by: Field, where: Where, signal: AbortSignal) =>
  rows({ ...spanOf(range), by, percentiles: true, ...exactly(range.exact) }, where, signal)

/** Loads the totals of all pairs of values of two fields. */
export const loadPairs = (range: Range, fields: readonly [Field, Field], where: Where, signal: AbortSignal) =>
  rows({ ...spanOf(range), by: fields.join(','), ...exactly(range.exact) }, where, signal)

/** Loads the values of a field in a range, those with the most requests first. */
export const loadValues = (range: Range, by: Field, where: Where, signal: AbortSignal) =>
  sums({ ...spanOf(range), by, limit: MOST }, where, signal)

/** Loads sums over time: for the largest groups and the rest, or for everything. */
export const loadSeries = (range: Range, by: Field | '', metric: Metric, where: Where, signal: AbortSignal) => {
  const top = by === '' ? {} : { by, top: TOP, rank: MEASURES[metric].rank }
  return sums({ ...spanOf(range), every: range.every, percentiles: true, limit: MOST, ...top }, where, signal)
}

/** Loads with the given range, and retries with hourly sums if it has too many requests to count by the minute. */
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
