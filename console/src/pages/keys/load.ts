import { get } from '../../api/request.ts'
import type { AllOf, Group, Key, PageOf, Usage, UsageSum } from '../../api/types.ts'

/** Days of usage beside each key. */
export const DAYS = 14
const DAY = 86_400_000

/** Keys in a page of the API. */
const PAGE = 200
/** Keys that are loaded at once. */
export const AT_ONCE = 1000

/** What one key used in the last days. */
export interface KeyUsage {
  readonly requests: number
  readonly errors: number
  readonly tokens: number
  /** US dollars of the requests whose price is known; undefined where there is none of them. */
  readonly cost: number | undefined
  /** Requests of each day, today last. */
  readonly days: readonly number[]
}

export const NO_USAGE: KeyUsage = { requests: 0, errors: 0, tokens: 0, cost: 0, days: Array(DAYS).fill(0) }

/** The first keys, and where the next begin. */
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

export const loadGroups = async (signal: AbortSignal): Promise<readonly Group[]> =>
  (await get<AllOf<Group>>('/groups', {}, signal)).data

/** What each key used, by its id. */
export async function loadUsage(signal: AbortSignal): Promise<ReadonlyMap<string, KeyUsage>> {
  const today = Math.floor(Date.now() / DAY)
  const since = new Date((today - DAYS + 1) * DAY).toISOString()
  const { data } = await get<Usage>('/usage', { by: 'key', every: 'day', since, limit: 10_000 }, signal)
  const byKey = Map.groupBy(data, sum => sum.key ?? '')
  return new Map([...byKey].map(([key, sums]) => [key, usageOf(sums, today)]))
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
    cost: requests > 0 && total(sum => sum.unpriced) === requests ? undefined : total(sum => sum.cost),
  }
}
