import type { UsageGroup, UsageRecords } from '../../../store/usage-records.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Maximum number of groups per query. */
const MOST = 1000

/**
 * Time for which sums over long periods are reused, in milliseconds. They change slowly, and many users may request
 * them.
 */
const REUSED = 30_000

/** Sums over a day or a month, shared by everybody who watches the overview. */
export interface SlowSums {
  /** Yesterday, up to the same time of day. */
  readonly yesterday: readonly UsageGroup[]
  readonly month: readonly UsageGroup[]
  readonly hours: readonly UsageGroup[]
  readonly models: readonly UsageGroup[]
  readonly formats: readonly UsageGroup[]
}

/** Time for which older sums are shown while new ones are computed, so that nobody waits, in milliseconds. */
const SHOWN = 5 * 60_000

interface Computed {
  readonly at: number
  readonly sums: Promise<SlowSums>
}

const latest = new WeakMap<UsageRecords, Computed>()

/** Returns sums over long periods, computed once for all requests within `REUSED` milliseconds. */
export function slowSums(usage: UsageRecords, now: number): Promise<SlowSums> {
  const before = latest.get(usage)
  if (before !== undefined && now - before.at < REUSED) return before.sums
  const sums = compute(usage, now)
  const fresh = { at: now, sums }
  latest.set(usage, fresh)
  // A failure is not reused.
  sums.catch(() => {
    if (latest.get(usage) === fresh) latest.delete(usage)
  })
  return before !== undefined && mayShow(before, now) ? before.sums.catch(() => sums) : sums
}

/** Returns true if sums were computed today and recently enough to show. */
const mayShow = ({ at }: Computed, now: number): boolean =>
  now - at < SHOWN && Math.floor(at / DAY) === Math.floor(now / DAY)

/** Computes the sums one after another, so that the store can answer other requests in between. */
async function compute(usage: UsageRecords, now: number): Promise<SlowSums> {
  const today = now - (now % DAY)
  const date = new Date(now)
  const recent = { since: now - DAY, until: now + 1, by: [], limit: MOST }
  const yesterday = await usage.sums({ ...recent, since: today - DAY, until: now - DAY })
  const since = Date.UTC(date.getUTCFullYear(), date.getUTCMonth())
  const month = await usage.sums({ ...recent, since })
  const hours = await usage.sums({ ...recent, every: 'hour' })
  const models = await usage.sums({ ...recent, by: ['model'], percentiles: true })
  const formats = await usage.sums({ ...recent, by: ['format', 'upstreamFormat'] })
  return { yesterday, month, hours, models, formats }
}
