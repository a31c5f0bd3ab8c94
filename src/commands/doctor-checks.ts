import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { withEscapedControls } from '../canonical/text.ts'
import type { Config } from '../config/index.ts'
import { checkChannel } from '../gateway/channel-check.ts'
import type { Services } from '../gateway/services.ts'
import type { Channel } from '../upstreams/channel/index.ts'

/** The outcome of one check. */
export interface Finding {
  readonly level: 'ok' | 'warning' | 'fault'
  /** Subject of the check, for example `store`. */
  readonly subject: string
  readonly text: string
  /** Steps that remove the fault. */
  readonly remedy?: string
}

const DAY_MS = 86_400_000
/** Time before the expiry of a certificate at which warnings start, in milliseconds. */
const RENEWAL_TIME_MS = 14 * DAY_MS
/** Timeout of a test request, in milliseconds. */
const TEST_TIMEOUT_MS = 30_000

/** Checks the validity of the gateway's own certificate. */
export function certificateFinding({ server }: Config, now: number): Finding | undefined {
  if (server.tls === undefined) return undefined
  const { validTo } = new X509Certificate(readFileSync(server.tls.cert))
  const remaining = Date.parse(validTo) - now
  const subject = 'certificate'
  if (remaining < 0)
    return { level: 'fault', subject, text: `it expired on ${validTo}`, remedy: `renew ${server.tls.cert}` }
  return { level: remaining < RENEWAL_TIME_MS ? 'warning' : 'ok', subject, text: `it is valid until ${validTo}` }
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

/** Checks the key, the clock and the models of a channel. The findings quote the upstream, which is untrusted. */
export async function channelFindings(channel: Channel, services: Services): Promise<Finding[]> {
  const { images, ciphers, log, config } = services
  const { findings } = await checkChannel(channel, {
    ...{ model: undefined, facts: config.models, log, images, seal: ciphers.of('administrators') },
    timeout: TEST_TIMEOUT_MS,
  })
  const subject = withEscapedControls(`channel ${channel.config.name}`)
  return findings.map(one => ({ ...one, subject, text: withEscapedControls(one.text) }))
}
