import { defined } from '../../../canonical/node.ts'
import { instantOf } from '../../../config/schema.ts'
import { RELEASES } from '../../../formats/releases.ts'
import type { UsageGroup, UsageQuery, UsageSum } from '../../../store/usage-records.ts'
import { failingSince } from '../../../upstreams/channel/health.ts'
import type { Administration } from '../administration.ts'
import { endpoint } from '../endpoint.ts'
import { budgetsOf } from '../overview/budgets.ts'
import { concernsOf } from '../overview/concerns.ts'
import { savedBy } from '../overview/savings.ts'
import { slowSums } from '../overview/slow-sums.ts'
import { allOf, KEY_BUDGET, OVERVIEW } from '../shapes.ts'
import { groupView } from './requests.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const NANODOLLARS = 1e9

/** Number of models, format pairs and failures shown. */
const MAX_SHOWN = 5
/** Minimum number of requests to a model for its times to be meaningful. */
const MIN_REQUESTS = 3
/** Maximum number of groups per sum. */
const MAX_GROUPS = 1000
/** Fraction of the month that must have passed before its cost is forecast. */
const MIN_FORECAST_SHARE = 1 / 60

const getBudgets = endpoint({
  method: 'get',
  path: '/budgets',
  operation: 'listBudgets',
  summary:
    'Lists the budgets of keys, by themselves or by their group, with the spend of the current UTC day and month.',
  answer: allOf(KEY_BUDGET),
  handle: async gateway => ({ data: [...(await budgetsOf(gateway, Date.now()))] }),
})

const getOverview = endpoint({
  method: 'get',
  path: '/overview',
  operation: 'getOverview',
  summary:
    'Returns the state of the gateway at a glance: what needs an operator, and requests, errors and cost of today, yesterday and this month (UTC).',
  answer: OVERVIEW,
  handle: gateway => overviewOf(gateway, Date.now()),
})

async function overviewOf(gateway: Administration, now: number) {
  const { usage } = gateway
  const today = now - (now % DAY_MS)
  const date = new Date(now)
  const month = Date.UTC(date.getUTCFullYear(), date.getUTCMonth())
  const monthEnd = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
  const sums = (query: Partial<UsageQuery>) =>
    usage.sums({ ...{ since: today, until: now + 1, by: [], limit: MAX_GROUPS }, ...query })
  const recent = { since: now - DAY_MS, until: now + 1 }
  const [states, health, budgets] = await Promise.all([gateway.states(), gateway.health(), budgetsOf(gateway, now)])
  const models = await sums({ by: ['model', 'channel'] })
  const slow = await slowSums(usage, now)
  const limited = await sums({
    since: now - HOUR_MS,
    exact: true,
    by: ['key', 'group'],
    where: REFUSED_BY_LIMIT,
  }).catch(() => [])
  const failures = await usage.failures({ ...recent, since: now - HOUR_MS })
  const [total] = await sums({})
  const monthly = totalsOf(slow.month[0])
  const elapsedShare = (now - month) / (monthEnd - month)
  return {
    at: instantOf(now),
    concerns: [...concernsOf(gateway, { states, health, budgets, limited, models, now })],
    today: totalsOf(total),
    yesterday: totalsOf(slow.yesterday[0]),
    month: {
      ...monthly,
      ...defined({
        forecast:
          elapsedShare < MIN_FORECAST_SHARE || (monthly.cost === 0 && monthly.unpriced > 0)
            ? undefined
            : monthly.cost / elapsedShare,
        budget: monthlyBudget(budgets),
      }),
    },
    hours: slow.hours.map(({ at, requests, errors }) => ({ at: instantOf(at!), requests, errors })),
    failures: failures.groups
      .filter(({ failure }) => failure.reason !== 'gateway')
      .slice(0, MAX_SHOWN)
      .map(groupView),
    channels: {
      all: gateway.config.channels.length,
      ok: gateway.config.channels.filter(({ name }) => isHealthy(states[name], now)).length,
    },
    cache: cacheOf(gateway, total, models),
    loss_kinds: lossKindsOf(slow.formats),
    losses: slow.formats
      .filter(({ losses }) => losses > 0)
      .sort((one, other) => other.losses - one.losses)
      .slice(0, MAX_SHOWN)
      .map(({ by, losses, requests }) => ({
        ...{ format: by.format ?? '', upstream_format: by.upstreamFormat ?? '', losses, requests },
      })),
    slowest: slowestOf(slow.models),
    formats: formatsOf(slow.formats),
  }
}

/** Adds up the losses by kind. */
function lossKindsOf(groups: readonly UsageGroup[]) {
  const kinds = { dropped: 0, changed: 0, moved: 0 }
  let all = 0
  for (const { losses, lossKinds } of groups) {
    all += losses
    for (const kind of ['dropped', 'changed', 'moved'] as const) kinds[kind] += lossKinds[kind]
  }
  return { ...kinds, other: Math.max(0, all - kinds.dropped - kinds.changed - kinds.moved) }
}

/** Filter for requests that the gateway refused because of a limit: status 429, and no channel was tried. */
const REFUSED_BY_LIMIT = { status: '429', channel: '' }

type States = Awaited<ReturnType<Administration['states']>>

const isHealthy = (state: States[string] | undefined, now: number): boolean =>
  state === undefined ||
  (!state.drained && state.restingUntil === undefined && failingSince(state.stats, now) === undefined)

/** Converts a sum to the API's format. No sum means no requests. */
const totalsOf = (sum: UsageSum | undefined) => ({
  ...{ requests: sum?.requests ?? 0, errors: sum?.errors ?? 0, cancelled: sum?.cancelled ?? 0 },
  ...{ cost: (sum?.cost ?? 0) / NANODOLLARS, unpriced: sum?.unpriced ?? 0, estimated: sum?.estimated ?? 0 },
  ...{ input_tokens: sum?.input ?? 0, cache_read_tokens: sum?.cacheRead ?? 0 },
})

/** Sums the monthly budgets of all keys. Returns undefined if no key has one. */
function monthlyBudget(budgets: Awaited<ReturnType<typeof budgetsOf>>) {
  const months = budgets.flatMap(({ month }) => month ?? [])
  if (months.length === 0) return undefined
  return {
    limit: months.reduce((sum, { limit }) => sum + limit, 0),
    spent: months.reduce((sum, { spent }) => sum + spent, 0),
  }
}

function cacheOf(gateway: Administration, total: UsageSum | undefined, models: readonly UsageGroup[]) {
  if (total === undefined || total.input === 0) return {}
  const saved = savedBy(gateway, models)
  return {
    share: total.cacheRead / total.input,
    ...defined({ saved: saved === undefined ? undefined : saved / NANODOLLARS }),
  }
}

const slowestOf = (models: readonly UsageGroup[]) =>
  models
    .flatMap(({ by: { model }, requests, firstByte }) =>
      model === undefined || firstByte === undefined || requests < MIN_REQUESTS
        ? []
        : [{ model, requests, first_byte_ms: firstByte }],
    )
    .sort((one, other) => other.first_byte_ms.p95 - one.first_byte_ms.p95)
    .slice(0, MAX_SHOWN)

/** Adds up the requests of each format that callers or upstreams used, with the release that the gateway supports. */
function formatsOf(pairs: readonly UsageGroup[]) {
  const requests = new Map<string, number>()
  for (const { by, requests: count } of pairs)
    for (const format of new Set([by.format, by.upstreamFormat]))
      if (format !== undefined) requests.set(format, (requests.get(format) ?? 0) + count)
  return [...requests]
    .sort(([, one], [, other]) => other - one)
    .map(([format, count]) => ({ format, requests: count, ...RELEASES[format] }))
}

/** Endpoints of the overview. */
export const OVERVIEW_ENDPOINTS = [getOverview, getBudgets]
