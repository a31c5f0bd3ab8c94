import * as v from 'valibot'
import { defined } from '../../../canonical/node.ts'
import {
  fields,
  flag,
  instant,
  instantOf,
  limit,
  listOf,
  namesOf,
  oneOf,
  since,
  wordOrNone,
} from '../../../config/schema.ts'
import {
  TooManyRows,
  type UsageField,
  type UsageFilter,
  type UsageGroup,
  type UsageQuery,
  type UsageRecords,
} from '../../../store/usage-records.ts'
import { hoursFrom } from '../../../store/usage-sums.ts'
import { csvOf } from '../csv.ts'
import { endpoint } from '../endpoint.ts'
import { invalidInput } from '../problem.ts'
import { USAGE_FIELDS, USAGE_SUM } from '../shapes.ts'

/** Maps filter names in the query to usage fields. */
const FIELDS_BY_NAME: { readonly [F in (typeof USAGE_FIELDS)[number]]: UsageField } = {
  ...{ key: 'key', model: 'model', channel: 'channel', format: 'format', upstream_format: 'upstreamFormat' },
  ...{ door: 'door', group: 'group', status: 'status' },
}

/** Query parameters that select requests. An empty value selects requests that lack the field. */
export const filterParameters = {
  since: v.optional(since),
  until: v.optional(since),
  key: v.optional(wordOrNone),
  model: v.optional(wordOrNone),
  channel: v.optional(wordOrNone),
  format: v.optional(wordOrNone),
  upstream_format: v.optional(wordOrNone),
  door: v.optional(wordOrNone),
  group: v.optional(wordOrNone),
  status: v.optional(wordOrNone),
}

type Filter = { readonly [F in (typeof USAGE_FIELDS)[number]]?: string | undefined } & {
  readonly since?: number | undefined
  readonly until?: number | undefined
}

const DAY_MS = 86_400_000

/**
 * Builds a usage filter from query parameters. Covers the last 24 hours by default. Throws Problem if `since` is not
 * before `until`.
 */
export function filterOf({ since, until = Date.now(), ...where }: Filter, defaultPeriod = DAY_MS): UsageFilter {
  const from = since ?? until - defaultPeriod
  if (from >= until) throw invalidInput({ parameter: 'since', detail: 'is not before until' })
  const filters = USAGE_FIELDS.flatMap(name =>
    where[name] === undefined ? [] : [[FIELDS_BY_NAME[name], where[name]] as const],
  )
  return { since: from, until, ...(filters.length === 0 ? {} : { where: Object.fromEntries(filters) }) }
}

const MAX_GROUPS = 10_000
const MAX_TOP = 20

const getUsage = endpoint({
  method: 'get',
  path: '/usage',
  operation: 'getUsage',
  summary:
    'Sums usage, grouped by the given fields and by minute, hour or day. Times are rounded to the hour, except with `exact` or by minute. Covers the last 24 hours by default. `complete` is false if there are more rows than `limit`, or if what is summed was deleted: hourly sums after 60 days, single requests after `usage.keep`.',
  query: fields({
    by: v.optional(namesOf(USAGE_FIELDS)),
    every: v.optional(oneOf(['minute', 'hour', 'day'])),
    exact: flag,
    percentiles: flag,
    top: v.optional(limit(MAX_TOP, MAX_TOP)),
    rank: v.optional(oneOf(['requests', 'errors', 'tokens', 'cost', 'losses']), 'requests'),
    limit: limit(1000, MAX_GROUPS),
    ...filterParameters,
  }),
  answer: fields({ since: instant, until: instant, complete: v.boolean(), data: listOf(USAGE_SUM) }),
  csv: ({ data }) => csvOf(COLUMNS, data),
  handle: async ({ usage, config }, { query: { by = [], every, exact, percentiles, top, rank, limit, ...filter } }) => {
    const usageFilter = filterOf(filter)
    const ranking = top === undefined ? undefined : { count: top, rank }
    const query = { ...usageFilter, by: by.map(name => FIELDS_BY_NAME[name]), exact, percentiles, limit: limit + 1 }
    const groups = await usage.sums({ ...query, ...defined({ every, top: ranking }) }).catch(throwProblem)
    const storedFrom = startOfStored({ every, exact }, Date.now(), config.usage.retention)
    const complete = groups.length <= limit && !(await hasRequestsBefore(storedFrom, usage, usageFilter))
    return {
      ...{ since: instantOf(usageFilter.since), until: instantOf(usageFilter.until), complete },
      data: groups.slice(0, limit).map(sumView),
    }
  },
})

/** Returns the time from which everything is stored that a query adds up: requests, hours or days. */
function startOfStored(
  { every, exact }: { readonly every?: UsageQuery['every'] | undefined; readonly exact: boolean },
  now: number,
  retention: number,
): number {
  if (exact || every === 'minute') return now - retention
  return every === 'hour' ? hoursFrom(now) : Number.NEGATIVE_INFINITY
}

/** Returns true if a period has requests before a time. */
async function hasRequestsBefore(
  time: number,
  usage: Pick<UsageRecords, 'sums'>,
  filter: UsageFilter,
): Promise<boolean> {
  const until = Math.min(filter.until, time)
  return filter.since < until && (await usage.sums({ ...filter, until, by: [], limit: 1 })).length > 0
}

function throwProblem(thrown: unknown): never {
  if (!(thrown instanceof TooManyRows)) throw thrown
  throw invalidInput({
    parameter: 'since',
    detail: `is too early: more than ${thrown.most} requests would have to be counted exactly`,
  })
}

const NANODOLLARS = 1e9

function sumView({ by, at, keyName, others, ...sum }: UsageGroup) {
  const values = USAGE_FIELDS.map(name => [name, by[FIELDS_BY_NAME[name]]] as const)
  return {
    ...(defined(Object.fromEntries(values)) as { [F in (typeof USAGE_FIELDS)[number]]?: string }),
    ...defined({ key_name: keyName, others, at: at === undefined ? undefined : instantOf(at) }),
    ...{
      requests: sum.requests,
      errors: sum.errors,
      cancelled: sum.cancelled,
      input_tokens: sum.input,
      output_tokens: sum.output,
    },
    ...{ cache_read_tokens: sum.cacheRead, cache_write_tokens: sum.cacheWrite, reasoning_tokens: sum.reasoning },
    ...{ input_audio_tokens: sum.inputAudio, output_audio_tokens: sum.outputAudio },
    ...{ cost: sum.cost / NANODOLLARS, unpriced: sum.unpriced, estimated: sum.estimated, losses: sum.losses },
    ...defined({ first_byte_ms: sum.firstByte, duration_ms: sum.duration }),
  }
}

type Sum = v.InferOutput<typeof USAGE_SUM>

const column = <K extends keyof Sum>(name: K) =>
  ({ [name]: (sum: Sum) => sum[name] }) as { [F in K]: (sum: Sum) => Sum[K] }

const COLUMNS = {
  ...column('at'),
  ...{ ...column('key'), ...column('key_name'), ...column('model'), ...column('channel'), ...column('format') },
  ...{ ...column('upstream_format'), ...column('door'), ...column('group'), ...column('status'), ...column('others') },
  ...{
    ...column('requests'),
    ...column('errors'),
    ...column('cancelled'),
    ...column('input_tokens'),
    ...column('output_tokens'),
  },
  ...{ ...column('cache_read_tokens'), ...column('cache_write_tokens'), ...column('reasoning_tokens') },
  ...{ ...column('input_audio_tokens'), ...column('output_audio_tokens') },
  ...{ ...column('cost'), ...column('unpriced'), ...column('estimated'), ...column('losses') },
  first_byte_ms_p50: (sum: Sum) => sum.first_byte_ms?.p50,
  first_byte_ms_p95: (sum: Sum) => sum.first_byte_ms?.p95,
  first_byte_ms_p99: (sum: Sum) => sum.first_byte_ms?.p99,
  duration_ms_p50: (sum: Sum) => sum.duration_ms?.p50,
  duration_ms_p95: (sum: Sum) => sum.duration_ms?.p95,
  duration_ms_p99: (sum: Sum) => sum.duration_ms?.p99,
}

/** The endpoint that sums usage. */
export const USAGE = [getUsage]
