import * as v from 'valibot'
import { defined } from '../../canonical/defined.ts'
import type { UsageField, UsageFilter, UsageGroup } from '../../store/usage-records.ts'
import { csvOf } from '../csv.ts'
import { endpoint } from '../endpoint.ts'
import { invalidInput } from '../problem.ts'
import { fields, flag, instant, instantOf, limit, listOf, namesOf, oneOf, since, word } from '../schema.ts'
import { USAGE_FIELDS, USAGE_SUM } from '../shapes.ts'

/** The fields of a filter, by their names in a query. */
const NAMES: { readonly [F in (typeof USAGE_FIELDS)[number]]: UsageField } = {
  ...{ key: 'key', model: 'model', channel: 'channel', format: 'format', upstream_format: 'upstreamFormat' },
  ...{ door: 'door', group: 'group', status: 'status' },
}

/** Parameters that say which requests are meant. */
export const filterParameters = {
  since: v.optional(since),
  until: v.optional(since),
  key: v.optional(word),
  model: v.optional(word),
  channel: v.optional(word),
  format: v.optional(word),
  upstream_format: v.optional(word),
  door: v.optional(word),
  group: v.optional(word),
  status: v.optional(word),
}

type Filter = { readonly [F in (typeof USAGE_FIELDS)[number]]?: string | undefined } & {
  readonly since?: number | undefined
  readonly until?: number | undefined
}

const DAY = 86_400_000

/** The filter of a query: of the last 24 hours, where it does not say. Throws Problem for times in the wrong order. */
export function filterOf({ since, until = Date.now(), ...where }: Filter, usual = DAY): UsageFilter {
  const from = since ?? until - usual
  if (from >= until) throw invalidInput({ parameter: 'since', detail: 'is not before until' })
  const given = USAGE_FIELDS.flatMap(name => (where[name] === undefined ? [] : [[NAMES[name], where[name]] as const]))
  return { since: from, until, ...(given.length === 0 ? {} : { where: Object.fromEntries(given) }) }
}

const MOST = 10_000

const getUsage = endpoint({
  method: 'get',
  path: '/usage',
  operation: 'getUsage',
  summary:
    'Sums over requests, by the named fields and by hour or day. Times count to the hour; the last 24 hours by default.',
  query: fields({
    by: v.optional(namesOf(USAGE_FIELDS)),
    every: v.optional(oneOf(['hour', 'day'])),
    percentiles: flag,
    limit: limit(1000, MOST),
    ...filterParameters,
  }),
  answer: fields({ since: instant, until: instant, data: listOf(USAGE_SUM) }),
  csv: ({ data }) => csvOf(COLUMNS, data),
  handle: async ({ usage }, { query: { by = [], every, percentiles, limit, ...filter } }) => {
    const meant = filterOf(filter)
    const query = { ...meant, by: by.map(name => NAMES[name]), percentiles, limit, ...defined({ every }) }
    const groups = await usage.sums(query)
    return { since: instantOf(meant.since), until: instantOf(meant.until), data: groups.map(sumView) }
  },
})

const NANO = 1e9

function sumView({ by, at, keyName, ...sum }: UsageGroup) {
  const values = USAGE_FIELDS.map(name => [name, by[NAMES[name]]] as const)
  return {
    ...(defined(Object.fromEntries(values)) as { [F in (typeof USAGE_FIELDS)[number]]?: string }),
    ...defined({ key_name: keyName, at: at === undefined ? undefined : instantOf(at) }),
    ...{ requests: sum.requests, errors: sum.errors, input_tokens: sum.input, output_tokens: sum.output },
    ...{ cache_read_tokens: sum.cacheRead, cache_write_tokens: sum.cacheWrite, reasoning_tokens: sum.reasoning },
    ...{ input_audio_tokens: sum.inputAudio, output_audio_tokens: sum.outputAudio },
    ...{ cost: sum.cost / NANO, unpriced: sum.unpriced, losses: sum.losses },
    ...defined({ first_byte_ms: sum.firstByte, duration_ms: sum.duration }),
  }
}

type Sum = v.InferOutput<typeof USAGE_SUM>

const column = <K extends keyof Sum>(name: K) =>
  ({ [name]: (sum: Sum) => sum[name] }) as { [F in K]: (sum: Sum) => Sum[K] }

const COLUMNS = {
  ...column('at'),
  ...{ ...column('key'), ...column('key_name'), ...column('model'), ...column('channel'), ...column('format') },
  ...{ ...column('upstream_format'), ...column('door'), ...column('group'), ...column('status') },
  ...{ ...column('requests'), ...column('errors'), ...column('input_tokens'), ...column('output_tokens') },
  ...{ ...column('cache_read_tokens'), ...column('cache_write_tokens'), ...column('reasoning_tokens') },
  ...{ ...column('input_audio_tokens'), ...column('output_audio_tokens') },
  ...{ ...column('cost'), ...column('unpriced'), ...column('losses') },
  first_byte_ms_p50: (sum: Sum) => sum.first_byte_ms?.p50,
  first_byte_ms_p95: (sum: Sum) => sum.first_byte_ms?.p95,
  first_byte_ms_p99: (sum: Sum) => sum.first_byte_ms?.p99,
  duration_ms_p50: (sum: Sum) => sum.duration_ms?.p50,
  duration_ms_p95: (sum: Sum) => sum.duration_ms?.p95,
  duration_ms_p99: (sum: Sum) => sum.duration_ms?.p99,
}

export const USAGE = [getUsage]
