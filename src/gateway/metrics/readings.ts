import type { Family, Sample } from './family.ts'

interface Meter extends Pick<Family, 'type' | 'help'> {
  /** How the values of several processes become one; `sum` by default. */
  readonly aggregator?: Family['aggregator']
}

/** States that are read when metrics are; each is shown once something reads it. */
export const METERS = {
  interlingua_open_requests: { type: 'gauge', help: 'Requests that are being answered; streaming ones have begun.' },
  interlingua_open_sessions: { type: 'gauge', help: 'Open realtime sessions.' },
  interlingua_open_sockets: { type: 'gauge', help: 'Open WebSockets of responses.' },
  interlingua_waiting_bytes: { type: 'gauge', help: 'Bytes of incomplete bodies in memory.' },
  interlingua_spooled_bytes: { type: 'gauge', help: 'Bytes of incomplete forms on disk.' },
  interlingua_channel_in_flight: { type: 'gauge', help: 'Requests and sessions at an upstream.' },
  interlingua_channel_resting: { type: 'gauge', aggregator: 'max', help: 'Whether a channel rests after failures.' },
  interlingua_channel_resting_models: {
    ...{ type: 'gauge', aggregator: 'max' },
    help: 'Models of a channel that rest after failures.',
  },
  interlingua_channel_drained: { type: 'gauge', aggregator: 'max', help: 'Whether a channel gets no new requests.' },
  interlingua_usage_queue_rows: { type: 'gauge', help: 'Rows of usage that wait to be written.' },
  interlingua_usage_dropped_total: { type: 'counter', help: 'Rows of usage that could not be kept.' },
  interlingua_store_up: { type: 'gauge', aggregator: 'min', help: 'Whether the store can be used.' },
  interlingua_store_faults_total: { type: 'counter', help: 'Accesses to the store that failed.' },
  interlingua_redis_up: { type: 'gauge', aggregator: 'min', help: 'Whether Redis can be reached.' },
  interlingua_redis_faults_total: { type: 'counter', help: 'Requests to Redis that failed.' },
  interlingua_limits_fallback: {
    ...{ type: 'gauge', aggregator: 'max' },
    help: 'Whether limits are counted by this process or machine alone, as its primary or Redis cannot be reached.',
  },
  interlingua_wrong_keys_total: { type: 'counter', help: 'Requests with a key that is not known.' },
  interlingua_certificate_expiry_timestamp_seconds: {
    ...{ type: 'gauge', aggregator: 'min' },
    help: 'When the certificate of the server expires, in Unix time.',
  },
} as const satisfies { readonly [name: string]: Meter }

export type MeterName = keyof typeof METERS

type Reading = number | readonly Sample[]

/** Gives the value of a meter, or one for each of several sets of labels. Must be cheap; a rejection hides the meter. */
export type Read = () => Reading | undefined | Promise<Reading | undefined>

export type Readings = { readonly [N in MeterName]?: Read }

/** The metrics that are read now. */
export async function readingFamilies(readings: Readings): Promise<readonly Family[]> {
  const read = Object.entries(readings).map(async ([name, read]): Promise<readonly Family[]> => {
    const meter: Meter = METERS[name as MeterName]
    const reading = await Promise.try(read).catch(() => undefined)
    if (reading === undefined) return []
    const values = typeof reading === 'number' ? [{ labels: {}, value: reading }] : reading
    return [{ name, help: meter.help, type: meter.type, aggregator: meter.aggregator ?? 'sum', values }]
  })
  return (await Promise.all(read)).flat()
}
