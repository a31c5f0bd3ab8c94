import { type StatsSnapshot, sumOf } from '../../upstreams/channel/health.ts'

/** Returns the requests of the last minutes, with the share of failed ones. */
export function rateOf(stats: StatsSnapshot, minutes: number) {
  const { requests, errors } = sumOf(stats, minutes)
  return { requests, errors, error_rate: requests === 0 ? 0 : Math.round((errors / requests) * 10_000) / 10_000 }
}
