import type { Caller } from '../access/index.ts'
import type { Usage } from '../canonical/result.ts'
import type { RoutedChannel } from '../router.ts'
import type { Recorder } from './report.ts'

/** Models without a price that are remembered as logged. */
const MOST = 1000

/** What requests may cost, before it is known who answers them. */
export class CostEstimates {
  private readonly recorder: Recorder
  private readonly unpriced = new Set<string>()

  constructor(recorder: Recorder) {
    this.recorder = recorder
  }

  /** Nanodollars at the first channel whose price is known; undefined, and logged once a model, where none is. */
  of(usage: Usage, model: string, { permissions }: Caller, channels: readonly RoutedChannel[]): number | undefined {
    const { prices } = this.recorder
    for (const { config } of channels) {
      if (!permissions.allowsChannel(config.name)) continue
      const { named, patterns } = config.models
      const upstreamModel = named.get(model) ?? (patterns.length > 0 ? model : undefined)
      if (upstreamModel === undefined) continue
      const cost = prices.cost({ model, upstreamModel, provider: config.provider }, usage)
      if (cost !== undefined) return cost
    }
    this.logUnpriced(model)
    return undefined
  }

  private logUnpriced(model: string): void {
    if (this.unpriced.has(model) || this.unpriced.size >= MOST) return
    this.unpriced.add(model)
    this.recorder.log.warn({ model }, 'the price of the model is unknown: it does not count against budgets')
  }
}
