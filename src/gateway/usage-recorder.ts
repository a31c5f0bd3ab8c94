import type { Caller } from '../access/index.ts'
import type { Usage } from '../canonical/result.ts'
import { NO_PRICES, type Prices } from '../catalogue/rates.ts'
import type { Config, LimitSettings } from '../config/types.ts'
import type { Log } from '../log/index.ts'
import type { Metrics } from '../metrics/index.ts'
import type { Proxies } from '../proxies/index.ts'
import { placesOf, type RoutedChannel } from '../router.ts'
import type { UsageLog } from '../usage/log.ts'
import type { UsageRow } from '../usage/row.ts'
import type { Call } from './call.ts'
import type { Live } from './live.ts'
import type { Recorder } from './report.ts'

/** Where the outcome of a request goes. */
interface Places {
  readonly log: Log
  readonly catalogue: Prices
  readonly usage: UsageLog
  readonly metrics: Metrics
  readonly live: Live
  readonly proxies: () => Proxies
}

/** The status of a request whose key was refused. */
const REFUSED = 401
/** Models without a price that are remembered as logged. */
const MOST = 1000

/** Records the outcome of requests and sessions in usage and metrics. */
export class UsageRecorder implements Recorder {
  readonly log: Log
  private readonly places: Places
  private readonly unpriced = new Set<string>()
  private priced: boolean

  constructor(places: Places, config: Config) {
    this.log = places.log
    this.places = places
    this.priced = needsPrices(config)
  }

  /**
   * What prices the requests of a caller. Where nobody wants to know a cost no price is looked up, so that the packages
   * with prices are loaded for nothing but what models take.
   */
  pricesFor(caller: Pick<Caller, 'permissions'> | undefined): Prices {
    return this.priced || (caller !== undefined && hasBudget(caller.permissions)) ? this.places.catalogue : NO_PRICES
  }

  reload(config: Config): void {
    this.priced ||= needsPrices(config)
  }

  take(row: UsageRow): void {
    const { usage, metrics, live } = this.places
    usage.take(row)
    metrics.take(row)
    if (live.isWatched) live.over(row)
  }

  address(message: Call['message'], status: number): string | undefined {
    const proxies = this.places.proxies()
    return proxies.present || status === REFUSED ? proxies.addressOf(message) || undefined : undefined
  }

  /**
   * What a request may cost before it is known who answers it: nanodollars at the first channel whose price is known;
   * undefined, and logged once a model, where none is.
   */
  estimate(usage: Usage, model: string, caller: Caller, channels: readonly RoutedChannel[]): number | undefined {
    const prices = this.pricesFor(caller)
    for (const { channel, upstreamModel } of placesOf(model, channels)) {
      if (!caller.permissions.allowsChannel(channel.name)) continue
      const cost = prices.cost({ model, upstreamModel, provider: channel.provider }, usage)
      if (cost !== undefined) return cost
    }
    if (!this.unpriced.has(model) && this.unpriced.size < MOST) {
      this.unpriced.add(model)
      this.log.warn({ model }, 'the price of the model is unknown: it does not count against budgets')
    }
    return undefined
  }
}

/** Whether costs of all requests are recorded or shown. */
const needsPrices = ({ usage, metrics, traces }: Config): boolean =>
  usage.keep > 0 || Object.values(metrics).some(value => value !== undefined) || traces !== undefined

const hasBudget = ({ limits }: { readonly limits: LimitSettings }): boolean =>
  limits.budget?.day !== undefined || limits.budget?.month !== undefined
