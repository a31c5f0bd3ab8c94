import type { UsageGroup, UsageRecords } from '../../../store/usage-records.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Maximum number of groups per query. */
const MAX_GROUPS = 1000

/**
 * Time for which sums over long periods are reused, in milliseconds. They change slowly, and many users may request
 * them.
 */
const REUSE_MS = 30_000

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
const MAX_STALE_MS = 5 * 60_000

interface CachedSums {
  readonly at: number
  readonly sums: Promise<SlowSums>
}

const cache = new WeakMap<UsageRecords, CachedSums>()

/** Returns sums over long periods, computed once for all requests within `REUSE_MS` milliseconds. */
export function slowSums(usage: UsageRecords, now: number): Promise<SlowSums> {
  const cached = cache.get(usage)
  // A clock that was set back must not make old sums fresh.
  if (cached !== undefined && Math.abs(now - cached.at) < REUSE_MS) return cached.sums
  const sums = compute(usage, now)
  const fresh = { at: now, sums }
  cache.set(usage, fresh)
  // A failure is not reused.
  sums.catch(() => {
    if (cache.get(usage) === fresh) cache.delete(usage)
  })
  return cached !== undefined && mayShow(cached, now) ? cached.sums.catch(() => sums) : sums
}

/** Returns true if sums were computed today and recently enough to show. */
const mayShow = ({ at }: CachedSums, now: number): boolean =>
  Math.abs(now - at) < MAX_STALE_MS && Math.floor(at / DAY_MS) === Math.floor(now / DAY_MS)

/** Computes the sums one after another, so that the store can answer other requests in between. */
async function compute(usage: UsageRecords, now: number): Promise<SlowSums> {
  const today = now - (now % DAY_MS)
  const date = new Date(now)
  const recent = { since: now - DAY_MS, until: now + 1, by: [], limit: MAX_GROUPS }
  const yesterday = await usage.sums({ ...recent, since: today - DAY_MS, until: now - DAY_MS })
  const since = Date.UTC(date.getUTCFullYear(), date.getUTCMonth())
  const month = await usage.sums({ ...recent, since })
  const hours = await usage.sums({ ...recent, every: 'hour' })
  const models = await usage.sums({ ...recent, by: ['model'], percentiles: true })
  const formats = await usage.sums({ ...recent, by: ['format', 'upstreamFormat'] })
  return { yesterday, month, hours, models, formats }
}
