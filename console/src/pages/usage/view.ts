import { useLocation } from 'preact-iso'
import { hrefOf } from '../../href.ts'
import { FIELDS, type Field, type Where } from './fields.ts'

/** Ranges that can be chosen. `days` has a first and a last day. */
export const RANGES = ['1h', '24h', '7d', '30d', 'days'] as const
export const METRICS = ['requests', 'tokens', 'cost', 'errors', 'first_byte', 'duration'] as const
export const PERCENTILES = ['p50', 'p95', 'p99'] as const
export const KINDS = ['bars', 'lines'] as const

export type RangeName = (typeof RANGES)[number]
export type Metric = (typeof METRICS)[number]
export type Percentile = (typeof PERCENTILES)[number]
export type Kind = (typeof KINDS)[number]

/** State of the page, all stored in its address. */
export interface View {
  readonly range: RangeName
  /** First day of the range `days`. */
  readonly from: string
  /** Last day of the range `days`. */
  readonly to: string
  readonly metric: Metric
  readonly by: Field | ''
  readonly kind: Kind
  readonly percentile: Percentile
  /** Column the table is sorted by, with `-` before it for descending. */
  readonly sort: string
  /** Ids of the series that are hidden. */
  readonly hidden: readonly string[]
  readonly where: Where
  /** Open list of requests, optionally of one interval or one group. */
  readonly list: { readonly at?: string; readonly group?: string } | undefined
}

type Query = { readonly [name: string]: string }

const oneOf = <T extends string>(value: string | undefined, all: readonly T[], usual: T): T =>
  all.find(one => one === value) ?? usual

const DAY = /^\d{4}-\d\d-\d\d$/
/** First day and end of the days that can be chosen. No request is older. */
const [FIRST_DAY, END_OF_DAYS] = ['2000-01-01', '3000-01-01']
export const isDay = (text: string | undefined): text is string =>
  text !== undefined && DAY.test(text) && !Number.isNaN(Date.parse(text)) && text >= FIRST_DAY && text < END_OF_DAYS

/** Reads the view from the query. Invalid values become the defaults. */
export function viewOf(query: Query): View {
  const { from, to, by, hidden = '', list, at, of } = query
  const hasDays = isDay(from) && isDay(to) && from <= to
  const where = FIELDS.flatMap(field => (query[field] === undefined ? [] : [[field, query[field]]]))
  return {
    range: hasDays ? 'days' : oneOf(query['range'], RANGES.slice(0, -1) as readonly RangeName[], '24h'),
    from: hasDays ? from : '',
    to: hasDays ? to : '',
    metric: oneOf(query['show'], METRICS, 'requests'),
    by: by === 'nothing' ? '' : oneOf(by, FIELDS, 'model'),
    kind: oneOf(query['chart'], KINDS, 'bars'),
    percentile: oneOf(query['percentile'], PERCENTILES, 'p95'),
    sort: query['sort'] ?? '',
    hidden: hidden === '' ? [] : hidden.split(',').map(decoded),
    where: Object.fromEntries(where) as Where,
    list: list === undefined ? undefined : { ...(at && { at }), ...(of === undefined ? {} : { group: of }) },
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Address of a view. Defaults are left out. */
export function addressOf({ list, where, hidden, ...view }: View): string {
  const query = new URLSearchParams()
  const put = (name: string, value: string, usual = ''): void => {
    if (value !== usual) query.set(name, value)
  }
  if (view.range === 'days') {
    put('from', view.from)
    put('to', view.to)
  } else put('range', view.range, '24h')
  put('show', view.metric, 'requests')
  put('by', view.by === '' ? 'nothing' : view.by, 'model')
  put('chart', view.kind, 'bars')
  put('percentile', view.percentile, 'p95')
  put('sort', view.sort)
  put('hidden', hidden.map(encodeURIComponent).join(','))
  for (const [field, value] of Object.entries(where)) query.set(field, value)
  if (list !== undefined) query.set('list', '1')
  if (list?.at !== undefined) query.set('at', list.at)
  if (list?.group !== undefined) query.set('of', list.group)
  const all = query.toString()
  return hrefOf('/usage') + (all === '' ? '' : `?${all}`)
}

export type Change = (next: Partial<View>) => void

/** Hook with the current view and a function to change it. Only opening a list adds a history entry. */
export function useView(): readonly [View, Change] {
  const { query, route } = useLocation()
  const view = viewOf(query)
  return [view, next => route(addressOf({ ...view, ...next }), !('list' in next) || next.list === undefined)]
}
