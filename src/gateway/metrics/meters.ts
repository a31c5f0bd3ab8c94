import type { Family, Sample } from './family.ts'

interface Meter extends Pick<Family, 'type' | 'help'> {
  /** Function that merges the values of several processes. Default: `sum`. */
  readonly aggregator?: Family['aggregator']
}

/** Gauges and counters that are read at each scrape. A meter appears once a reader is registered for it. */
export const METERS = {
  interlingua_open_requests: { type: 'gauge', help: 'Requests in progress, streaming ones included.' },
  interlingua_open_sessions: { type: 'gauge', help: 'Open realtime sessions.' },
  interlingua_open_sockets: { type: 'gauge', help: 'Open WebSocket connections of the responses format.' },
  interlingua_waiting_bytes: { type: 'gauge', help: 'Bytes of incomplete request bodies in memory.' },
  interlingua_spooled_bytes: { type: 'gauge', help: 'Bytes of incomplete multipart forms on disk.' },
  interlingua_channel_in_flight: { type: 'gauge', help: 'Requests and sessions in flight at a channel.' },
  interlingua_channel_failing: {
    ...{ type: 'gauge', aggregator: 'min' },
    help: 'Whether all recent requests of a channel failed. Absent until it has had a request.',
  },
  interlingua_channel_resting: { type: 'gauge', aggregator: 'max', help: 'Whether a channel rests after failures.' },
  interlingua_channel_resting_models: {
    ...{ type: 'gauge', aggregator: 'max' },
    help: 'Number of models of a channel that rest after failures.',
  },
  interlingua_channel_keys: {
    ...{ type: 'gauge', aggregator: 'max' },
    help: "Keys of a channel's pool by state: ok, resting, refused.",
  },
  interlingua_channel_drained: { type: 'gauge', aggregator: 'max', help: 'Whether a channel gets no new requests.' },
  interlingua_usage_queue_rows: { type: 'gauge', help: 'Usage rows that wait to be written.' },
  interlingua_usage_dropped_total: { type: 'counter', help: 'Usage rows that could not be stored.' },
  interlingua_captures_dropped_total: {
    type: 'counter',
    help: 'Requests of keys with captures that were not captured: too many ran at once, or the store failed.',
  },
  interlingua_store_up: { type: 'gauge', aggregator: 'min', help: 'Whether the store is available.' },
  interlingua_store_faults_total: { type: 'counter', help: 'Failed store operations.' },
  interlingua_redis_up: { type: 'gauge', aggregator: 'min', help: 'Whether Redis is reachable.' },
  interlingua_redis_faults_total: { type: 'counter', help: 'Requests to Redis that failed.' },
  interlingua_limits_fallback: {
    ...{ type: 'gauge', aggregator: 'max' },
    help: 'Whether limits are counted by this process or machine alone because its primary or Redis is unreachable.',
  },
  interlingua_wrong_keys_total: { type: 'counter', help: 'Requests with an unknown key.' },
  interlingua_certificate_expiry_timestamp_seconds: {
    ...{ type: 'gauge', aggregator: 'min' },
    help: 'Expiry of the server certificate in Unix time.',
  },
} as const satisfies { readonly [name: string]: Meter }

export type MeterName = keyof typeof METERS

type MeterValue = number | readonly Sample[]

/** Reads a meter: one value, or one per set of labels. Must be cheap. The meter is hidden if this rejects. */
export type ReadMeter = () => MeterValue | undefined | Promise<MeterValue | undefined>

export type MeterReaders = { readonly [N in MeterName]?: ReadMeter }

/** Reads all registered meters. A meter that fails or has no value is left out. */
export async function meterFamilies(readers: MeterReaders): Promise<readonly Family[]> {
  const read = Object.entries(readers).map(async ([name, read]): Promise<readonly Family[]> => {
    const meter: Meter = METERS[name as MeterName]
    const reading = await Promise.try(read).catch(() => undefined)
    if (reading === undefined) return []
    const values = typeof reading === 'number' ? [{ labels: {}, value: reading }] : reading
    return [{ name, help: meter.help, type: meter.type, aggregator: meter.aggregator ?? 'sum', values }]
  })
  return (await Promise.all(read)).flat()
}
