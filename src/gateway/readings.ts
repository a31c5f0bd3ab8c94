import type { Limits } from '../access/limits/index.ts'
import type { WrongKeys } from '../access/wrong-keys.ts'
import type { Channel } from '../channel/index.ts'
import type { RedisLink } from '../cluster/redis-link.ts'
import type { Readings, Sample } from '../metrics/index.ts'
import type { LazyStore } from '../store/lazy-store.ts'
import type { UsageLog } from '../usage/log.ts'
import type { Running } from './running.ts'

/** The requests that are being answered, by whether any of their answer was sent. */
export const openRequests = ({ counts }: Running): readonly Sample[] =>
  Object.entries(counts).map(([state, value]) => ({ labels: { state }, value }))

/** What metrics tell of channels. */
export function channelReadings(all: () => readonly Channel[]): Readings {
  const each = (read: (channel: Channel) => number) => (): readonly Sample[] =>
    all().map(channel => ({ labels: { channel: channel.config.name }, value: read(channel) }))
  return {
    interlingua_channel_in_flight: each(({ health }) => health.open),
    interlingua_channel_drained: each(({ drained }) => Number(drained)),
    interlingua_channel_resting: each(({ resting }) => resting.count(Date.now()).channels),
    interlingua_channel_resting_models: each(({ resting }) => resting.count(Date.now()).models),
  }
}

interface Counting {
  readonly usage: UsageLog
  readonly limits: Limits
  readonly wrongKeys: WrongKeys
  readonly store: LazyStore
  /** Absent where none is configured, and so are its meters. */
  readonly redis: RedisLink | undefined
}

/** What the services of a gateway count themselves. */
export const countReadings = ({ usage, limits, wrongKeys, store, redis }: Counting): Readings => ({
  interlingua_usage_queue_rows: () => usage.queued,
  interlingua_usage_dropped_total: () => usage.dropped,
  interlingua_limits_fallback: () => Number(limits.isAlone),
  interlingua_wrong_keys_total: () => wrongKeys.count,
  interlingua_store_faults_total: () => store.faultCount,
  ...(redis === undefined
    ? {}
    : { interlingua_redis_up: () => Number(redis.isUp), interlingua_redis_faults_total: () => redis.faults }),
})
