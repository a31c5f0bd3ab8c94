import { get } from '../../api/request.ts'
import type { AllOf, Group, Key, KeyBudget, PageOf, Usage, UsageSum } from '../../api/types.ts'
import type { Budgets } from './budgets.tsx'

/** Period of the usage shown for each key, in days. */
export const DAYS = 14
const DAY = 86_400_000

/** Number of keys per page of the API. */
const PAGE = 200
/** Number of keys loaded at first, and again with each “Load more”. */
export const AT_ONCE = 1000

/** Usage of one key in the last `DAYS` days. */
export interface KeyUsage {
  readonly requests: number
  readonly errors: number
  readonly tokens: number
  /** Cost of the requests with a known price, in US dollars, and the numbers of requests without and with an estimate. */
  readonly cost: number
  readonly unpriced: number
  readonly estimated: number
  /** Requests per day, today last. */
  readonly days: readonly number[]
  /** Budgets of the key, by itself or by its group. */
  readonly budgets?: Budgets | undefined
}

/** Usage of a key without requests. */
export const NO_USAGE: KeyUsage = {
  requests: 0,
  errors: 0,
  tokens: 0,
  cost: 0,
  unpriced: 0,
  estimated: 0,
  days: Array(DAYS).fill(0),
}

/** Loads the first keys, with the cursor of the next page if there are more. */
export async function loadKeys(revoked: boolean, most: number, signal: AbortSignal): Promise<PageOf<Key>> {
  const data: Key[] = []
  let cursor: string | undefined
  while (data.length < most) {
    const query = { limit: PAGE, revoked: revoked || undefined, cursor }
    const next = await get<PageOf<Key>>('/keys', query, signal)
    for (const key of next.data) data.push(key)
    cursor = next.next_cursor
    if (cursor === undefined) return { data }
  }
  return { data, ...(cursor === undefined ? {} : { next_cursor: cursor }) }
}

/** Loads all groups. */
export const loadGroups = async (signal: AbortSignal): Promise<readonly Group[]> =>
  (await get<AllOf<Group>>('/groups', {}, signal)).data

/** Loads the usage of each key, by key id. */
export async function loadUsage(signal: AbortSignal): Promise<ReadonlyMap<string, KeyUsage>> {
  const today = Math.floor(Date.now() / DAY)
  const since = new Date((today - DAYS + 1) * DAY).toISOString()
  const [{ data }, budgets] = await Promise.all([
    get<Usage>('/usage', { by: 'key', every: 'day', since, limit: 10_000 }, signal),
    get<AllOf<KeyBudget>>('/budgets', {}, signal),
  ])
  const byKey = Map.groupBy(data, sum => sum.key ?? '')
  const used = new Map<string, KeyUsage>([...byKey].map(([key, sums]) => [key, usageOf(sums, today)]))
  for (const { key, day, month } of budgets.data)
    used.set(key, { ...(used.get(key) ?? NO_USAGE), budgets: { day, month } })
  return used
}

function usageOf(sums: readonly UsageSum[], today: number): KeyUsage {
  const days: number[] = Array(DAYS).fill(0)
  for (const { at, requests } of sums) {
    const day = DAYS - 1 - (today - Math.floor(Date.parse(at!) / DAY))
    if (day >= 0 && day < DAYS) days[day] = requests
  }
  const total = (value: (sum: UsageSum) => number): number => sums.reduce((all, sum) => all + value(sum), 0)
  const requests = total(sum => sum.requests)
  return {
    ...{ requests, days, errors: total(sum => sum.errors) },
    tokens: total(sum => sum.input_tokens + sum.output_tokens),
    ...{ cost: total(sum => sum.cost), unpriced: total(sum => sum.unpriced), estimated: total(sum => sum.estimated) },
  }
}
