import type { Config } from '../../config/index.ts'
import { CANCELLED, type UsageRow } from '../../store/usage/row.ts'
import type { Sample } from './family.ts'

/** Label value for values beyond the limits below. */
const OTHER_VALUE = 'other'
/** Label value for absent values. */
export const NONE = 'none'

/** Maximum number of label sets with a separate series. Further label sets share one series per format and status. */
const MAX_SERIES = 1000

/** Status label of requests whose caller disconnected. */
const CANCELLED_STATUS = 'cancelled'
const STATUS_CLASSES = ['0xx', '1xx', '2xx', '3xx', '4xx', '5xx'] as const

/** Counts requests by their labels. Designed for thousands of requests per second: holds sums, never requests. */
export class Requests {
  private readonly models: ModelLabels
  private readonly sums = new SeriesSums()

  constructor(config: Config) {
    this.models = new ModelLabels(config)
  }

  reload(config: Config): void {
    this.models.reload(config)
  }

  get all(): readonly Series[] {
    return this.sums.all
  }

  count(row: UsageRow): void {
    const model = this.models.of(row)
    const { door, format, channel = NONE, upstreamFormat = NONE } = row
    const status =
      row.status === CANCELLED ? CANCELLED_STATUS : (STATUS_CLASSES[Math.floor(row.status / 100)] ?? OTHER_VALUE)
    this.sums.open({ door, format, model, channel, upstream_format: upstreamFormat, status }).count(row)
  }
}

/** Series by their labels, of limited number. */
export class SeriesSums {
  private readonly byKey = new Map<string, Series>()

  get all(): readonly Series[] {
    return [...this.byKey.values()]
  }

  /** Returns the series with the given labels, or the one of all further labels if there are too many. */
  open(labels: RequestLabels): Series {
    const { door, format, channel, upstream_format, status, model } = labels
    const key = `${door} ${format} ${channel} ${upstream_format} ${status} ${model}`
    const known = this.byKey.get(key)
    if (known !== undefined) return known
    const isFull = this.byKey.size >= MAX_SERIES
    const seriesLabels = isFull ? { ...OTHER_LABELS, format: labels.format, status: labels.status } : labels
    const seriesKey = isFull ? `${OTHER_VALUE} ${labels.format} ${labels.status}` : key
    const series = this.byKey.get(seriesKey) ?? new Series(seriesLabels)
    this.byKey.set(seriesKey, series)
    return series
  }
}

const OTHER_LABELS = { door: OTHER_VALUE, model: OTHER_VALUE, channel: OTHER_VALUE, upstream_format: OTHER_VALUE }

/** Maximum number of models outside the config that get a separate label value. */
const MAX_MODELS = 100
/** Maximum number of characters of such a model name, because every line about the model repeats it. */
const MAX_MODEL_LENGTH = 100

/**
 * Maps a request's model to a label value. Because callers choose model names, only configured models and a limited
 * number of models that an upstream answered successfully get a separate value.
 */
class ModelLabels {
  private configured: ReadonlySet<string> = new Set()
  private readonly answeredModels = new Set<string>()

  constructor(config: Config) {
    this.reload(config)
  }

  reload({ channels, models }: Config): void {
    this.configured = new Set([...models.keys(), ...channels.flatMap(channel => [...channel.models.named.keys()])])
  }

  of({ model, channel, status }: UsageRow): string {
    if (model === undefined) return NONE
    if (this.configured.has(model) || this.answeredModels.has(model)) return model
    if (
      channel === undefined ||
      status >= 400 ||
      this.answeredModels.size >= MAX_MODELS ||
      model.length > MAX_MODEL_LENGTH
    )
      return OTHER_VALUE
    this.answeredModels.add(model)
    return model
  }
}

/** The counts of a histogram as plain JSON. */
interface HistogramCounts {
  readonly counts: readonly number[]
  readonly sum: number
}

/** Counts values by bucket. */
export class Histogram implements HistogramCounts {
  private readonly bounds: readonly number[]
  /** Count of each bucket, not cumulative. The last bucket holds values above all bounds. */
  readonly counts: number[]
  sum = 0

  /** @param bounds the maximum of each bucket, ascending. */
  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.counts = new Array(bounds.length + 1).fill(0)
  }

  observe(value: number): void {
    const { bounds } = this
    let index = 0
    while (index < bounds.length && value > bounds[index]!) index++
    this.counts[index]!++
    this.sum += value
  }

  /** Returns a histogram with the same bounds and no counts. */
  empty(): Histogram {
    return new Histogram(this.bounds)
  }

  /** Adds the counts of a histogram with the same bounds. */
  add(other: HistogramCounts): void {
    for (const [index, count] of other.counts.entries()) this.counts[index]! += count
    this.sum += other.sum
  }

  /** Returns Prometheus samples with cumulative buckets, empty if nothing was counted. */
  samples(name: string, labels: Sample['labels']): readonly Sample[] {
    let count = 0
    const buckets = this.counts.map((bucketCount, index): Sample => {
      count += bucketCount
      const le = this.bounds[index] ?? '+Inf'
      return { labels: { le }, sharedLabels: labels, value: count, metricName: `${name}_bucket` }
    })
    if (count === 0) return []
    return [
      ...buckets,
      { labels, value: this.sum, metricName: `${name}_sum` },
      { labels, value: count, metricName: `${name}_count` },
    ]
  }
}

/**
 * Buckets of OpenTelemetry's `gen_ai.server.request.duration` in seconds, plus longer ones for videos and reasoning.
 */
const DURATION_BOUNDS = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 300, 900,
]
/** Buckets of `gen_ai.server.time_to_first_token` in seconds, plus longer ones. */
const FIRST_BYTE_BOUNDS = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60]
/** OpenTelemetry's buckets for numbers of tokens. */
const TOKEN_BOUNDS = [1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304]

/** Token kinds by label value. All but the first two are parts of input or output. */
export const TOKEN_KINDS = [
  ['input', 'input'],
  ['output', 'output'],
  ['cache_read', 'cacheRead'],
  ['cache_write', 'cacheWrite'],
  ['input_audio', 'inputAudio'],
  ['reasoning', 'reasoning'],
  ['output_audio', 'outputAudio'],
] as const satisfies readonly (readonly [label: string, field: keyof UsageRow])[]

/** Labels of the request metrics. */
export interface RequestLabels {
  readonly door: string
  readonly format: string
  readonly model: string
  readonly channel: string
  readonly upstream_format: string
  /** Status class, such as `2xx`, or `cancelled` for 499. */
  readonly status: string
}

/** A series as plain JSON, sent to other processes. */
export interface CountedSeries {
  readonly labels: RequestLabels
  readonly counts: Counts
  readonly tokens: readonly number[]
  readonly errors: readonly (readonly [kind: string, count: number])[]
  /** Histograms in the order of `Series.histograms`. */
  readonly histograms: readonly HistogramCounts[]
}

/** Sums over the requests of a series. */
interface Counts {
  requests: number
  attempts: number
  losses: number
  additions: number
  /** Number of requests with at least one loss. */
  lossy: number
  nanodollars: number
  /** Number of requests that used tokens of unknown price. */
  unpriced: number
  /** Number of requests whose token counts are estimated. */
  estimated: number
  /** Number of requests whose conversation decided between channels or keys. */
  affine: number
  /** Number of these requests whose prompt was partly cached. */
  affineHits: number
}

/** Counters and histograms of all requests with one set of labels. */
export class Series {
  readonly labels: RequestLabels
  readonly counts: Counts = {
    requests: 0,
    attempts: 0,
    losses: 0,
    additions: 0,
    lossy: 0,
    nanodollars: 0,
    unpriced: 0,
    estimated: 0,
    affine: 0,
    affineHits: 0,
  }
  readonly tokens: number[] = TOKEN_KINDS.map(() => 0)
  readonly errors = new Map<string, number>()
  readonly duration = new Histogram(DURATION_BOUNDS)
  readonly firstByte = new Histogram(FIRST_BYTE_BOUNDS)
  readonly input = new Histogram(TOKEN_BOUNDS)
  readonly output = new Histogram(TOKEN_BOUNDS)

  constructor(labels: RequestLabels) {
    this.labels = labels
  }

  private get histograms(): readonly Histogram[] {
    return [this.duration, this.firstByte, this.input, this.output]
  }

  count(row: UsageRow): void {
    const { counts } = this
    counts.requests++
    counts.attempts += row.attempts
    counts.additions += row.additions ?? 0
    if (row.losses > 0) {
      counts.losses += row.losses
      counts.lossy++
    }
    if (row.cost !== undefined) counts.nanodollars += row.cost
    else if (row.input !== undefined || row.output !== undefined) counts.unpriced++
    if (row.estimated === true) counts.estimated++
    if (row.affinity !== undefined) {
      counts.affine++
      if ((row.cacheRead ?? 0) > 0) counts.affineHits++
    }
    for (let kind = 0; kind < TOKEN_KINDS.length; kind++) this.tokens[kind]! += row[TOKEN_KINDS[kind]![1]] ?? 0
    if (row.error !== undefined && row.status !== CANCELLED)
      this.errors.set(row.error, (this.errors.get(row.error) ?? 0) + 1)
    this.duration.observe(row.duration / 1000)
    if (row.firstByteAfter !== undefined) this.firstByte.observe(row.firstByteAfter / 1000)
    if (row.input !== undefined) this.input.observe(row.input)
    if (row.output !== undefined) this.output.observe(row.output)
  }

  /** Returns the counts as plain JSON. */
  get counted(): CountedSeries {
    const { labels, counts, tokens, errors, histograms } = this
    return {
      ...{ labels, counts, tokens, errors: [...errors] },
      histograms: histograms.map(({ counts, sum }) => ({ counts, sum })),
    }
  }

  /** Adds the counts of a series with the same labels. */
  add({ counts, tokens, errors, histograms }: CountedSeries): void {
    for (const name of Object.keys(counts) as (keyof Counts)[]) this.counts[name] += counts[name]
    for (const [kind, count] of tokens.entries()) this.tokens[kind]! += count
    for (const [error, count] of errors) this.errors.set(error, (this.errors.get(error) ?? 0) + count)
    for (const [index, histogram] of this.histograms.entries()) histogram.add(histograms[index]!)
  }
}
