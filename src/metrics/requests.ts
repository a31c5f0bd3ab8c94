import type { Config } from '../config/index.ts'
import type { UsageRow } from '../usage/row.ts'
import { ModelLabels, NONE, OTHER } from './model-label.ts'
import { type RequestLabels, Series } from './series.ts'

/** Sets of labels that are told apart; further ones are counted together. */
const MOST = 1000

const CLASSES = ['0xx', '1xx', '2xx', '3xx', '4xx', '5xx'] as const

/** What is counted of requests, by their labels. Made for rates of thousands a second: nothing is kept of a request. */
export class Requests {
  private readonly models: ModelLabels
  private readonly byKey = new Map<string, Series>()

  constructor(config: Config) {
    this.models = new ModelLabels(config)
  }

  reload(config: Config): void {
    this.models.reload(config)
  }

  get all(): readonly Series[] {
    return [...this.byKey.values()]
  }

  take(row: UsageRow): void {
    const model = this.models.of(row)
    const { door, format, channel = NONE, upstreamFormat = NONE } = row
    const status = CLASSES[Math.floor(row.status / 100)] ?? OTHER
    const key = `${door} ${format} ${channel} ${upstreamFormat} ${status} ${model}`
    const series =
      this.byKey.get(key) ?? this.opened(key, { door, format, model, channel, upstream_format: upstreamFormat, status })
    series.take(row)
  }

  private opened(key: string, labels: RequestLabels): Series {
    const isFull = this.byKey.size >= MOST
    const actual = isFull ? { ...ALL_OTHERS, format: labels.format, status: labels.status } : labels
    const at = isFull ? `${OTHER} ${labels.format} ${labels.status}` : key
    const series = this.byKey.get(at) ?? new Series(actual)
    this.byKey.set(at, series)
    return series
  }
}

const ALL_OTHERS = { door: OTHER, model: OTHER, channel: OTHER, upstream_format: OTHER }
