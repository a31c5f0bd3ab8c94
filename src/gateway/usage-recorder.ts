import { NO_PRICES, type Prices } from '../catalogue/prices.ts'
import type { Config, LimitSettings } from '../config/types.ts'
import type { Log } from '../log/index.ts'
import type { Metrics } from '../metrics/index.ts'
import type { Proxies } from '../proxies/index.ts'
import type { UsageLog } from '../usage/log.ts'
import type { UsageRow } from '../usage/row.ts'
import type { Call } from './call.ts'
import type { Live } from './live.ts'
import type { Recorder } from './report.ts'

/** Where the outcome of a request goes. */
export interface UsageRecorderOptions {
  readonly log: Log
  readonly catalogue: Prices
  readonly usage: UsageLog
  readonly metrics: Metrics
  readonly live: Live
  /** Those of the config in use. */
  readonly proxies: () => Proxies
}

/** Records the outcome of requests and sessions in usage and metrics. */
export class UsageRecorder implements Recorder {
  readonly log: Log
  private readonly options: UsageRecorderOptions
  private priced: boolean

  constructor(options: UsageRecorderOptions, config: Config) {
    this.log = options.log
    this.options = options
    this.priced = needsPrices(config)
  }

  /** A catalogue that nobody needs is not loaded. */
  get prices(): Prices {
    return this.priced ? this.options.catalogue : NO_PRICES
  }

  /** Costs are computed from now on: a key has a budget. */
  needPrices(): void {
    this.priced = true
  }

  reload(config: Config): void {
    this.priced ||= needsPrices(config)
  }

  take(row: UsageRow): void {
    this.options.usage.take(row)
    this.options.metrics.take(row)
    if (this.options.live.isWatched) this.options.live.over(row)
  }

  address(message: Call['message'], status: number): string | undefined {
    return this.options.proxies().logged(message, status)
  }
}

/** Whether costs are recorded, shown or limited. */
const needsPrices = ({ usage, metrics, traces, keys, groups }: Config): boolean =>
  usage.keep > 0 ||
  Object.values(metrics).some(value => value !== undefined) ||
  traces !== undefined ||
  [...keys, ...groups.values()].some(hasBudget)

const hasBudget = ({ limits }: { readonly limits: LimitSettings }): boolean =>
  limits.budget?.day !== undefined || limits.budget?.month !== undefined
