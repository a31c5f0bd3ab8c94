import { type StatsSnapshot, sumOf } from '../../upstreams/channel/health.ts'

/** The requests of the last minutes, with the share of those that failed. */
export function rateOf(stats: StatsSnapshot, minutes: number) {
  const { requests, errors } = sumOf(stats, minutes)
  return { requests, errors, error_rate: requests === 0 ? 0 : Math.round((errors / requests) * 10_000) / 10_000 }
}
