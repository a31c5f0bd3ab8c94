import type { Caller } from '../accounts/index.ts'
import type { UsageQueue } from '../accounts/usage/queue.ts'
import { ERRORS } from '../canonical/error.ts'
import { roundedMs } from '../canonical/milliseconds.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { Usage } from '../canonical/result.ts'
import { workOf } from '../canonical/work.ts'
import type { Config, LimitSettings } from '../config/types.ts'
import type { Log } from '../log.ts'
import { recordedModel, type UsageRow } from '../store/usage/row.ts'
import { expectedFacts, requestedFacts } from '../upstreams/catalogue/billed-facts.ts'
import { NO_PRICES, type Prices } from '../upstreams/catalogue/rates.ts'
import { headerValue } from '../upstreams/channel/index.ts'
import { deploymentsOf, type RoutedChannel } from '../upstreams/router.ts'
import type { Call } from './call.ts'
import type { Live } from './live.ts'
import type { Metrics } from './metrics/index.ts'
import { PRICE_UNKNOWN } from './priced.ts'
import type { Proxies } from './proxies/index.ts'
import type { Outcome } from './report.ts'

/** Destinations of a request's outcome. */
interface Sinks {
  readonly log: Log
  readonly catalogue: Prices
  readonly usage: UsageQueue
  readonly metrics: Metrics
  readonly live: Live
  readonly proxies: () => Proxies
}

/** Status of a request with a wrong key. */
const UNAUTHORIZED = 401
/** Maximum number of models without a price that are remembered, so that each is logged only once. */
const MAX_REMEMBERED_MODELS = 1000

/** The part of the recorder that voice sessions and their requests use. */
export type Recorder = Pick<UsageRecorder, 'log' | 'pricesFor' | 'record' | 'take' | 'address'>

/** Records the outcome of requests and voice sessions in usage, metrics, traces and the log. */
export class UsageRecorder {
  readonly log: Log
  private readonly sinks: Sinks
  private readonly unpriced = new Set<string>()
  private usesPrices: boolean

  constructor(sinks: Sinks, config: Config) {
    this.log = sinks.log
    this.sinks = sinks
    this.usesPrices = needsPrices(config)
  }

  /**
   * Returns the prices for a caller's requests. If nobody needs costs, the result has no prices, so that the price
   * package is not loaded.
   */
  pricesFor(caller: Pick<Caller, 'permissions'> | undefined): Prices {
    return this.usesPrices || (caller !== undefined && hasBudget(caller.permissions)) ? this.sinks.catalogue : NO_PRICES
  }

  reload(config: Config): void {
    this.usesPrices ||= needsPrices(config)
  }

  /** Records a finished request. */
  record(outcome: Outcome): void {
    const { log } = this
    const { call, row, error, fault, trace } = outcome
    this.take(row)
    trace?.end(row)
    if (error?.code === PRICE_UNKNOWN && row.model !== undefined) this.warnOnce(row.model, REFUSED_MESSAGE)
    if (fault !== undefined) log.error({ id: call.id, err: fault }, 'a fault of the gateway')
    const entry = entryOf(outcome, this.address(call.message, row.status))
    if (error === undefined || ERRORS[error.kind].status < 500) log.info(entry, 'request')
    else log.warn(entry, 'request')
  }

  private warnOnce(model: string, message: string): void {
    if (this.unpriced.has(model) || this.unpriced.size >= MAX_REMEMBERED_MODELS) return
    this.unpriced.add(model)
    this.log.warn({ model }, message)
  }

  take(row: UsageRow): void {
    const { usage, metrics, live } = this.sinks
    usage.add(row)
    metrics.count(row)
    if (live.isWatched) live.requestEnded(row)
  }

  /**
   * Returns the caller's IP address if the log needs it: for requests through proxies and for wrong keys.
   */
  address(message: Call['message'], status: number): string | undefined {
    const proxies = this.sinks.proxies()
    return proxies.hasTrustedProxies || status === UNAUTHORIZED ? proxies.addressOf(message) || undefined : undefined
  }

  /**
   * Returns the likely cost of a request in nanodollars before its target is known: the cost at the first channel with
   * a known price, or undefined if no channel has a price, which is logged once per model.
   */
  estimate(
    usage: Usage,
    request: CanonicalRequest,
    caller: Caller,
    channels: readonly RoutedChannel[],
    model: string = request.model,
  ): number | undefined {
    const prices = this.pricesFor(caller)
    const facts = expectedFacts(usage, workOf(request), requestedFacts(request))
    const deployments = deploymentsOf(model, channels)
    for (const { channel, upstreamModel } of deployments) {
      if (!caller.permissions.allowsChannel(channel.name)) continue
      const priced = { model, upstreamModel, provider: channel.provider }
      const cost = prices.cost(priced, usage, facts)
      if (cost === undefined) continue
      // A cheaper tier may not be granted.
      return facts.tier === undefined
        ? cost
        : Math.max(cost, prices.cost(priced, usage, { ...facts, tier: undefined }) ?? 0)
    }
    if (deployments.length > 0 && caller.permissions.limits.budget?.unknown !== 'refuse')
      this.warnOnce(model, UNCOUNTED_MESSAGE)
    return undefined
  }
}

/** Log message for a model without a price that budgets do not count. */
const UNCOUNTED_MESSAGE = 'the price of the model is unknown: its requests do not count against budgets'
/** Log message for a model without a price that a budget refuses. */
const REFUSED_MESSAGE =
  'a budget refuses the model because its price is unknown: set the price in `models:` of the config, or set `unknown: allow`'

/** Maximum length of an error code in the log, in characters. The code may come from an upstream. */
const MAX_CODE_LENGTH = 100

/** Builds the log line of a request, without bodies and credentials. */
const entryOf = ({ call, row, error, seconds, restoredReasoning, fallback }: Outcome, address: string | undefined) => ({
  id: row.id,
  client_id: headerValue(call.message.headers['x-request-id']).slice(0, 200) || undefined,
  upstream_id: row.upstreamId,
  address,
  key: row.keyName,
  door: row.door,
  model: row.model,
  requested_model: fallback && recordedModel(fallback.from),
  fallback: fallback?.reason,
  stream: row.stream,
  channel: row.channel,
  affinity: row.affinity,
  format: row.upstreamFormat,
  upstream_model: row.upstreamModel,
  attempts: row.attempts,
  status: row.status,
  error: row.error,
  code: error?.code?.slice(0, MAX_CODE_LENGTH),
  upstream_status: error?.status,
  finish: row.finish,
  input_tokens: row.input,
  output_tokens: row.output,
  cached_tokens: row.cacheRead,
  estimated: row.estimated,
  video_seconds: seconds,
  losses: row.losses === 0 ? undefined : row.losses,
  added: row.additions || undefined,
  thoughts_put_back: restoredReasoning,
  first_byte_ms: row.firstByteAfter && roundedMs(row.firstByteAfter),
  ms: roundedMs(row.duration),
})

/** Returns true if the config records or shows the cost of every request. */
const needsPrices = ({ usage, metrics, traces }: Config): boolean =>
  usage.retention > 0 || Object.values(metrics).some(value => value !== undefined) || traces !== undefined

const hasBudget = ({ limits }: { readonly limits: LimitSettings }): boolean =>
  limits.budget?.day !== undefined || limits.budget?.month !== undefined || limits.budget?.unknown === 'refuse'
