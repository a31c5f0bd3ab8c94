import { get } from '../../api/request.ts'
import type { AllOf, Group, Key, KeyBudget, PageOf, Usage, UsageSum } from '../../api/types.ts'
import { type Budgets, summed } from './budgets.tsx'

/** Period of the usage shown for each key, in days. */
export const DAYS = 14
const DAY = 86_400_000

/** Number of keys per page of the API. */
const PAGE = 200
/** Number of keys loaded at first, and again with each “Load more”. */
export const AT_ONCE = 1000

/** Number of keys loaded for a search or a group, which must not miss those that come later. */
export const ALL = 20_000

/** Usage of one key in the last `DAYS` days. */
export interface KeyUsage {
  readonly requests: number
  readonly errors: number
  readonly tokens: number
  /** Cost of the requests with a known price, in US dollars, and the numbers of requests without and with an estimate. */
  readonly cost: number
  readonly unpriced: number
  readonly estimated: number
  /** Requests per day, today last. Undefined if there are too many keys. */
  readonly days: readonly number[] | undefined
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

/** Usage of all keys. */
export interface KeysUsage {
  /** Usage by key id. Keys without requests and budgets are missing. */
  readonly byKey: ReadonlyMap<string, KeyUsage>
  /** Budgets of the keys of each group, added up. */
  readonly budgetsByGroup: ReadonlyMap<string, Budgets>
  /** False if so many keys have requests that those with the fewest are missing. */
  readonly isComplete: boolean
}

/** Maximum number of rows in one response. */
const MOST = 10_000

/** Loads the usage of each key. The requests per day are left out if they are too many rows for one response. */
export async function loadUsage(signal: AbortSignal): Promise<KeysUsage> {
  const today = Math.floor(Date.now() / DAY)
  const query = { by: 'key', since: new Date((today - DAYS + 1) * DAY).toISOString(), limit: MOST }
  const [totals, daily, budgets] = await Promise.all([
    get<Usage>('/usage', query, signal),
    get<Usage>('/usage', { ...query, every: 'day' }, signal),
    get<AllOf<KeyBudget>>('/budgets', {}, signal),
  ])
  const days = daily.complete ? Map.groupBy(daily.data, sum => sum.key ?? '') : undefined
  const byKey = new Map<string, KeyUsage>()
  for (const sum of totals.data) {
    const key = sum.key ?? ''
    byKey.set(key, { ...usageOf(sum), days: days && daysOf(days.get(key) ?? [], today) })
  }
  for (const { key, day, month } of budgets.data)
    byKey.set(key, { ...(byKey.get(key) ?? NO_USAGE), budgets: { day, month } })
  const groups = [...Map.groupBy(budgets.data, one => one.group)]
  const budgetsByGroup = new Map(groups.map(([name, all]) => [name, summed(all)]))
  return { byKey, budgetsByGroup, isComplete: totals.complete }
}

const usageOf = ({ requests, errors, input_tokens, output_tokens, cost, unpriced, estimated }: UsageSum) => ({
  ...{ requests, errors, tokens: input_tokens + output_tokens, cost, unpriced, estimated },
})

/** Requests per day, today last. */
function daysOf(sums: readonly UsageSum[], today: number): readonly number[] {
  const days: number[] = Array(DAYS).fill(0)
  for (const { at, requests } of sums) {
    const day = DAYS - 1 - (today - Math.floor(Date.parse(at!) / DAY))
    if (day >= 0 && day < DAYS) days[day] = requests
  }
  return days
}
