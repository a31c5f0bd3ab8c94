import { NO_PRICES, type Prices } from '../catalogue/prices.ts'
import type { Config, LimitSettings } from '../config/types.ts'
import type { Log } from '../log/index.ts'
import type { UsageLog } from '../usage/log.ts'
import type { UsageRow } from '../usage/row.ts'
import type { Recorder } from './report.ts'

/** Takes what became of requests and sessions, for everyone who wants to know. */
export class Recording implements Recorder {
  readonly log: Log
  private readonly catalogue: Prices
  private readonly usage: UsageLog
  private priced: boolean

  constructor(log: Log, catalogue: Prices, usage: UsageLog, config: Config) {
    this.log = log
    this.catalogue = catalogue
    this.usage = usage
    this.priced = wantsPrices(config)
  }

  /** A catalogue that nobody needs is not loaded. */
  get prices(): Prices {
    return this.priced ? this.catalogue : NO_PRICES
  }

  /** From now on costs are told: a key has a budget. */
  needPrices(): void {
    this.priced = true
  }

  reload(config: Config): void {
    this.priced ||= wantsPrices(config)
  }

  take(row: UsageRow): void {
    this.usage.take(row)
  }
}

/** Whether costs are recorded, shown or limited. */
const wantsPrices = ({ usage, metrics, traces, keys, groups }: Config): boolean =>
  usage.keep > 0 ||
  Object.values(metrics).some(value => value !== undefined) ||
  traces !== undefined ||
  [...keys, ...groups.values()].some(hasBudget)

const hasBudget = ({ limits }: { readonly limits: LimitSettings }): boolean =>
  limits.budget?.day !== undefined || limits.budget?.month !== undefined
