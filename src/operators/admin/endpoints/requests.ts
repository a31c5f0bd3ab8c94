import * as v from 'valibot'
import { roundedMs } from '../../../canonical/milliseconds.ts'
import { defined } from '../../../canonical/node.ts'
import { fields, instantOf, limit, listOf, oneOf, word } from '../../../config/schema.ts'
import type { Failure, UsageRow } from '../../../store/usage/row.ts'
import type { FailureGroup, RowPage, UsageField, UsageRecords } from '../../../store/usage-records.ts'
import { plainText } from '../../../store/usage-series.ts'
import type { Administration } from '../administration.ts'
import { cursorOf, positionOf } from '../cursor.ts'
import { endpoint } from '../endpoint.ts'
import { Problem } from '../problem.ts'
import { FAILURE, pageOf, REQUEST } from '../shapes.ts'
import { filterOf, filterParameters } from './usage.ts'

/** A page position: time and id of a row. */
const POSITION = /^\d{1,15}\.[\w-]{1,200}$/

const MONTH_MS = 30 * 86_400_000

const listRequests = endpoint({
  method: 'get',
  path: '/requests',
  operation: 'listRequests',
  summary: 'Lists finished requests without their bodies, newest first. Covers the last 30 days by default.',
  query: fields({
    limit: limit(50, 500),
    cursor: v.optional(word),
    only: v.optional(oneOf(['errors', 'losses', 'captured'])),
    ...filterParameters,
  }),
  answer: pageOf(REQUEST),
  handle: async (gateway, { query: { limit, cursor, only, ...filter } }) => {
    const { usage, captures } = gateway
    const after = cursor === undefined ? undefined : positionOf(cursor, POSITION)
    const page = { ...filterOf(filter, MONTH_MS), limit, ...defined({ after }) }
    const { rows, next } =
      only === 'captured' ? await capturedRows(gateway, page) : await usage.rows({ ...page, ...defined({ only }) })
    const captured = await captures.records.existing(rows.map(({ id }) => id))
    const data = rows.map(row => requestView(row, captured.has(row.id)))
    return { data, ...(next === undefined ? {} : { next_cursor: cursorOf(next) }) }
  },
})

/** Maximum number of captures looked up per query. */
const BATCH_SIZE = 100
/** Maximum number of captures looked up per page. Each requires a query for its row. */
const MAX_LOOKUPS = 1000

/**
 * Returns the rows of captured requests. The store finds captures only by time and key, so other filters are applied
 * here until the page is full, no captures are left, or the lookup limit is reached. `next` is then the position at
 * which to continue, even if the page is not full.
 */
async function capturedRows({ usage, captures }: Administration, page: RowPage): ReturnType<UsageRecords['rows']> {
  const { since, until, limit, where = {} } = page
  const stored = Object.entries(where).map(([field, value]) => [field, plainText(value)])
  const fits = (row: UsageRow | undefined): row is UsageRow =>
    row !== undefined && stored.every(([field, value]) => String(row[field as UsageField] ?? '') === value)
  const rows: UsageRow[] = []
  let after = page.after
  for (let lookedUp = 0; lookedUp < MAX_LOOKUPS; lookedUp += BATCH_SIZE) {
    const batch = { since, until, limit: BATCH_SIZE, ...defined({ after, key: where.key }) }
    const { found, more } = await captures.records.list(batch)
    const all = await Promise.all(found.map(({ id }) => usage.row(id)))
    for (const [index, row] of all.entries()) {
      if (fits(row)) rows.push(row)
      after = `${found[index]!.at}.${found[index]!.id}`
      if (rows.length === limit) return { rows, ...(more || index < all.length - 1 ? { next: after } : {}) }
    }
    if (!more) return { rows }
  }
  return { rows, ...defined({ next: after }) }
}

const getRequest = endpoint({
  method: 'get',
  path: '/requests/{id}',
  operation: 'getRequest',
  summary: 'Returns a request by its id, which its answer carried in the x-request-id header.',
  params: fields({ id: word }),
  answer: REQUEST,
  problems: ['not-found'],
  handle: async ({ usage, captures }, { params }) => {
    const row = await usage.row(params.id)
    if (row === undefined)
      throw new Problem('not-found', 'There is no request with this id, or its row has been deleted.')
    return requestView(row, (await captures.records.existing([row.id])).has(row.id))
  },
})

const listFailures = endpoint({
  method: 'get',
  path: '/failures',
  operation: 'listFailures',
  summary:
    'Groups failed requests by channel, model and failure, latest first. Covers the last 24 hours by default, and at most the latest 20,000 failures.',
  query: fields(filterParameters),
  answer: fields({ data: listOf(FAILURE), complete: v.boolean() }),
  handle: async ({ usage }, { query }) => {
    const { groups, isComplete } = await usage.failures(filterOf(query))
    return { data: groups.map(groupView), complete: isComplete }
  },
})

/** Converts a group of failures to the API's format. */
export const groupView = ({ failure, error, channel, model, count, firstAt, lastAt, request }: FailureGroup) => ({
  ...failureView(failure),
  ...defined({ error, channel, model }),
  ...{ count, first_at: instantOf(firstAt), at: instantOf(lastAt), request },
})

const NANODOLLARS = 1e9
const ms = (value: number | undefined): number | undefined => value && roundedMs(value)

const failureView = ({ reason, status, said }: Failure) => ({ reason, ...defined({ status, message: said }) })

/** Converts a usage row to the API's format. */
export const requestView = (row: UsageRow, isCaptured: boolean) => ({
  ...{ id: row.id, at: instantOf(row.at), door: row.door, format: row.format, stream: row.stream },
  ...{ attempts: row.attempts, status: row.status, losses: row.losses, duration_ms: ms(row.duration)! },
  captured: isCaptured,
  ...defined({
    ...{ key: row.key, key_name: row.keyName, group: row.group, model: row.model, upstream_model: row.upstreamModel },
    ...{ channel: row.channel, upstream_format: row.upstreamFormat, error: row.error },
    failure: row.failure && failureView(row.failure),
    ...{ finish: row.finish, upstream_id: row.upstreamId },
    ...{ input_tokens: row.input, output_tokens: row.output, cache_read_tokens: row.cacheRead },
    ...{ cache_write_tokens: row.cacheWrite, reasoning_tokens: row.reasoning },
    ...{ input_audio_tokens: row.inputAudio, output_audio_tokens: row.outputAudio },
    cost: row.cost === undefined ? undefined : row.cost / NANODOLLARS,
    estimated: row.estimated,
    ...{ read_after_ms: ms(row.readAfter), sent_after_ms: ms(row.sentAfter) },
    ...{ answered_after_ms: ms(row.answeredAfter), first_byte_after_ms: ms(row.firstByteAfter) },
    tries: row.tries?.map(({ channel, upstreamModel, sentAfter, endedAfter, failure }) => ({
      ...{ channel, upstream_model: upstreamModel, sent_after_ms: ms(sentAfter)!, ended_after_ms: ms(endedAfter)! },
      ...defined({ failure: failure && failureView(failure) }),
    })),
  }),
})

/** Endpoints for finished requests: list, read, and group failures. */
export const REQUESTS = [listRequests, getRequest, listFailures]
