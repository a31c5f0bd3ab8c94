import { setTimeout as delay } from 'node:timers/promises'
import type { Work } from '../canonical/work.ts'
import { FORMAT_FACTS } from '../formats/index.ts'
import type { Channel } from '../upstreams/channel/index.ts'
import { type ChannelTest, type ChannelTestOptions, testChannel } from './channel-test.ts'
import { requestListing } from './listing.ts'

/** The outcome of one check of a channel. */
export interface ChannelFinding {
  readonly level: 'ok' | 'warning' | 'fault'
  readonly subject: 'answer' | 'clock' | 'models'
  readonly text: string
  /** Advice on how to remove the fault. */
  readonly remedy?: string
}

/** The result of all checks of a channel. */
export interface ChannelCheck {
  readonly test: ChannelTest
  readonly findings: readonly ChannelFinding[]
  /** Models that the upstream lists, sorted, or undefined if it lists none. */
  readonly models: readonly string[] | undefined
  /** Kinds of work that the channel's formats can do. */
  readonly does: readonly Work[]
}

/** Maximum time of a request for the list of models, in milliseconds. */
const LIST_TIMEOUT = 10_000
/** Tolerated clock difference, in milliseconds. Signatures and tokens of clouds allow five minutes. */
const CLOCK_TOLERANCE = 60_000
/** Maximum number of names in a finding. */
const MAX_NAMES = 5

/** Checks the credentials, the clock and the models of a channel. Never rejects for a failure of the upstream. */
export async function checkChannel(channel: Channel, options: ChannelTestOptions): Promise<ChannelCheck> {
  const timeout = delay(LIST_TIMEOUT, undefined, { ref: false })
  const listing = await Promise.race([requestListing(channel).catch(() => undefined), timeout])
  const ids = listing?.status === 200 ? listing.ids : undefined
  if (ids !== undefined) channel.listed = new Set(ids)
  const test = await testChannel(channel, options)
  return {
    test,
    findings: [answerFinding(test, channel), ...clockFindings(listing?.clock), ...modelFindings(channel)],
    models: ids?.toSorted(),
    does: worksOf(channel),
  }
}

/** Returns the kinds of work that any format of the channel can do. */
const worksOf = ({ config: { formats } }: Channel): readonly Work[] => [
  ...new Set(
    formats.flatMap(({ format, dialect }) =>
      (FORMAT_FACTS.get(format)?.does ?? []).filter(work => dialect[work] !== false),
    ),
  ),
]

function answerFinding({ ok, model, latency, status, error }: ChannelTest, channel: Channel): ChannelFinding {
  const { size } = channel.listed ?? { size: 0 }
  const subject = 'answer'
  if (ok) {
    const summary = model === undefined ? 'it lists its models' : `${model} answers in ${Math.round(latency)} ms`
    return {
      level: 'ok',
      subject,
      text: size === 0 ? summary : `${summary}; ${size} model${size === 1 ? '' : 's'} listed`,
    }
  }
  const text = `${error?.message ?? 'no answer'}${status === undefined ? '' : ` (status ${status})`}`
  return { level: 'fault', subject, text, remedy: remedyOf(status, error?.kind) }
}

/** Returns advice for a channel that does not answer. */
function remedyOf(status: number | undefined, kind: string | undefined): string {
  if (status === 401 || status === 403) return "check the channel's key and its permissions"
  if (status === 402 || status === 429) return "check the account's quota and credit"
  if (status === 404) return 'check `base_url` and the model name'
  return kind === 'unreachable' || kind === 'timed-out'
    ? 'check `base_url`, `proxy`, `tls` and the network'
    : "see the gateway's log"
}

function clockFindings(clock: number | undefined): ChannelFinding[] {
  const difference = clock === undefined ? 0 : Date.now() - clock
  if (Math.abs(difference) <= CLOCK_TOLERANCE) return []
  const text = `its clock differs from this machine's by ${Math.round(Math.abs(difference) / 1000)} s`
  const remedy = "synchronise this machine's clock with NTP: clouds refuse signatures from a different time"
  return [{ level: 'warning', subject: 'clock', text, remedy }]
}

/** Warns of configured models that the upstream does not list. */
function modelFindings({ config, listed }: Channel): ChannelFinding[] {
  const unlisted = [...config.models.named.values()].filter(id => listed?.has(id) === false)
  if (unlisted.length === 0) return []
  const names = unlisted.slice(0, MAX_NAMES).join(', ')
  const more = unlisted.length > MAX_NAMES ? ` and ${unlisted.length - MAX_NAMES} more` : ''
  const text = `the upstream does not list ${names}${more}`
  return [{ level: 'warning', subject: 'models', text, remedy: 'check the names in `models`' }]
}
