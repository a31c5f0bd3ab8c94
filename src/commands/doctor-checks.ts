import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Config } from '../config/index.ts'
import { type ChannelTest, testChannel } from '../gateway/channel-test.ts'
import { requestListing } from '../gateway/listing.ts'
import type { Services } from '../gateway/services.ts'
import type { Channel } from '../upstreams/channel/index.ts'
import { counted } from './counted.ts'

/** The outcome of one check. */
export interface Finding {
  readonly level: 'ok' | 'warning' | 'fault'
  /** Subject of the check, for example `store`. */
  readonly subject: string
  readonly text: string
  /** Steps that remove the fault. */
  readonly remedy?: string
}

const DAY = 86_400_000
/** Time before the end of a certificate at which a warning begins, in milliseconds. */
const RENEWAL_TIME = 14 * DAY
/** Difference of clocks that is no fault, in milliseconds. Signatures and tokens of clouds allow five minutes. */
const CLOCK_TOLERANCE = 60_000
/** Maximum time of a test request, in milliseconds. */
const TEST_TIMEOUT = 30_000
/** Maximum number of names in a finding. */
const MAX_NAMES = 5

/** Checks the validity of the gateway's own certificate. */
export function certificateFinding({ server }: Config, now: number): Finding | undefined {
  if (server.tls === undefined) return undefined
  const { validTo } = new X509Certificate(readFileSync(server.tls.cert))
  const left = Date.parse(validTo) - now
  const subject = 'certificate'
  if (left < 0) return { level: 'fault', subject, text: `it ended on ${validTo}`, remedy: `renew ${server.tls.cert}` }
  return { level: left < RENEWAL_TIME ? 'warning' : 'ok', subject, text: `it is valid until ${validTo}` }
}

/** Checks that the store can be read and written. */
export async function storeFinding(services: Services): Promise<Finding> {
  const { store } = services.config
  const fault = await services.store.check()
  const place = store.engine === 'sqlite' ? store.path : 'PostgreSQL'
  return fault === undefined
    ? { level: 'ok', subject: 'store', text: place }
    : {
        ...{ level: 'fault', subject: 'store', text: `${place}: ${fault}` },
        remedy: 'check `store`, `data_dir` and their permissions',
      }
}

/** Checks that Redis answers. Undefined if none is configured. */
export function redisFinding({ cluster }: Services): Finding | undefined {
  if (cluster.redis === undefined) return undefined
  return cluster.redis.isUp
    ? { level: 'ok', subject: 'redis', text: 'it answers' }
    : {
        ...{ level: 'fault', subject: 'redis', text: 'it does not answer' },
        remedy: 'check `redis`; until then each machine counts limits for itself',
      }
}

/** Checks the key, the clock and the models of a channel. */
export async function channelFindings(channel: Channel, services: Services): Promise<Finding[]> {
  const subject = `channel ${channel.config.name}`
  const listing = await requestListing(channel).catch(() => undefined)
  if (listing?.status === 200 && listing.ids !== undefined) channel.listed = new Set(listing.ids)
  const { images, ciphers, log, config } = services
  const tested = await testChannel(channel, {
    ...{ model: undefined, facts: config.models, log, images, seal: ciphers.of('administrators') },
    timeout: TEST_TIMEOUT,
  })
  return [
    answerFinding(subject, tested, channel),
    ...clockFindings(subject, listing?.clock),
    ...modelFindings(subject, channel),
  ]
}

function answerFinding(subject: string, { ok, model, latency, status, error }: ChannelTest, channel: Channel): Finding {
  const { size } = channel.listed ?? { size: 0 }
  if (ok) {
    const answered = model === undefined ? 'it lists its models' : `${model} answers in ${Math.round(latency)} ms`
    return {
      level: 'ok',
      subject,
      text: size === 0 ? answered : `${answered}; ${counted(size, 'model')} listed`,
    }
  }
  const text = `${error?.message ?? 'no answer'}${status === undefined ? '' : ` (status ${status})`}`
  return { level: 'fault', subject, text, remedy: remedyOf(status, error?.kind) }
}

/** Steps for a channel that does not answer. */
function remedyOf(status: number | undefined, kind: string | undefined): string {
  if (status === 401 || status === 403) return 'check the key of the channel, and what it may use'
  if (status === 402 || status === 429) return 'check the quota and the credit of the account'
  if (status === 404) return 'check `base_url` and the name of the model'
  return kind === 'unreachable' || kind === 'timed-out'
    ? 'check `base_url`, `proxy`, `tls` and the network'
    : 'see the log of the gateway'
}

function clockFindings(subject: string, clock: number | undefined): Finding[] {
  const difference = clock === undefined ? 0 : Date.now() - clock
  if (Math.abs(difference) <= CLOCK_TOLERANCE) return []
  const text = `its clock differs from this machine's by ${Math.round(Math.abs(difference) / 1000)} s`
  return [
    {
      level: 'warning',
      subject,
      text,
      remedy: 'set the clock of this machine by NTP: clouds refuse signatures of other times',
    },
  ]
}

/** Names models of the config that the upstream does not list. */
function modelFindings(subject: string, { config, listed }: Channel): Finding[] {
  const unlisted = [...config.models.named.values()].filter(id => listed?.has(id) === false)
  if (unlisted.length === 0) return []
  const names = unlisted.slice(0, MAX_NAMES).join(', ')
  const more = unlisted.length > MAX_NAMES ? ` and ${unlisted.length - MAX_NAMES} more` : ''
  return [
    {
      level: 'warning',
      subject,
      text: `the upstream does not list ${names}${more}`,
      remedy: 'check the names in `models`',
    },
  ]
}
