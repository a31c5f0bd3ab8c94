import type { Config } from '../../config/index.ts'
import { CANCELLED, type UsageRow } from '../../store/usage/row.ts'
import type { Sample } from './family.ts'

/** The label of values beyond those that have labels of their own, and of values there are none of. */
const OTHER = 'other'
export const NONE = 'none'

/** Sets of labels that are counted apart; further ones are counted together. */
const MOST_SERIES = 1000

/** The class of requests that their callers left. */
const LEFT = 'cancelled'
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
    const status = row.status === CANCELLED ? LEFT : (CLASSES[Math.floor(row.status / 100)] ?? OTHER)
    const key = `${door} ${format} ${channel} ${upstreamFormat} ${status} ${model}`
    const series =
      this.byKey.get(key) ?? this.opened(key, { door, format, model, channel, upstream_format: upstreamFormat, status })
    series.take(row)
  }

  private opened(key: string, labels: RequestLabels): Series {
    const isFull = this.byKey.size >= MOST_SERIES
    const actual = isFull ? { ...ALL_OTHERS, format: labels.format, status: labels.status } : labels
    const at = isFull ? `${OTHER} ${labels.format} ${labels.status}` : key
    const series = this.byKey.get(at) ?? new Series(actual)
    this.byKey.set(at, series)
    return series
  }
}

const ALL_OTHERS = { door: OTHER, model: OTHER, channel: OTHER, upstream_format: OTHER }

/** Models that channels take by pattern and that have labels of their own. */
const MOST_MODELS = 100
/** Characters of such a model: it is in every line of a page that is about it. */
const LONGEST = 100

/**
 * The model of a request as a label. Callers write names of models, so only those are counted apart that the config names,
 * and some that an upstream answered with success.
 */
class ModelLabels {
  private known: ReadonlySet<string> = new Set()
  private readonly met = new Set<string>()

  constructor(config: Config) {
    this.reload(config)
  }

  reload({ channels, models }: Config): void {
    this.known = new Set([...models.keys(), ...channels.flatMap(channel => [...channel.models.named.keys()])])
  }

  of({ model, channel, status }: UsageRow): string {
    if (model === undefined) return NONE
    if (this.known.has(model) || this.met.has(model)) return model
    if (channel === undefined || status >= 400 || this.met.size >= MOST_MODELS || model.length > LONGEST) return OTHER
    this.met.add(model)
    return model
  }
}

/** What a histogram counted, as plain JSON. */
interface Counted {
  readonly counts: readonly number[]
  readonly sum: number
}

/** Counts of values by the buckets of a histogram. */
export class Histogram implements Counted {
  private readonly bounds: readonly number[]
  /** Of each bucket alone; the last has what is above all bounds. */
  readonly counts: number[]
  sum = 0

  /** @param bounds the largest value of each bucket, ascending. */
  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.counts = new Array(bounds.length + 1).fill(0)
  }

  take(value: number): void {
    const { bounds } = this
    let place = 0
    while (place < bounds.length && value > bounds[place]!) place++
    this.counts[place]!++
    this.sum += value
  }

  /** One with the same bounds that counted nothing. */
  empty(): Histogram {
    return new Histogram(this.bounds)
  }

  /** Adds what another one with the same bounds counted. */
  add(other: Counted): void {
    for (const [place, count] of other.counts.entries()) this.counts[place]! += count
    this.sum += other.sum
  }

  /** Its samples in Prometheus's form, whose buckets are cumulative; none where nothing was counted. */
  samples(name: string, labels: Sample['labels']): readonly Sample[] {
    let count = 0
    const buckets = this.counts.map((own, place): Sample => {
      count += own
      const le = this.bounds[place] ?? '+Inf'
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

/** Seconds. Those of OpenTelemetry's `gen_ai.server.request.duration`, and longer ones for videos and thoughts. */
const DURATION = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 300, 900]
/** Seconds. Those of `gen_ai.server.time_to_first_token`, and longer ones. */
const FIRST = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60]
/** Tokens, as OpenTelemetry has them. */
const TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304]

/** The kinds of tokens by the names of their labels; those behind the first two are parts of these. */
export const TOKEN_KINDS = [
  ['input', 'input'],
  ['output', 'output'],
  ['cache_read', 'cacheRead'],
  ['cache_write', 'cacheWrite'],
  ['input_audio', 'inputAudio'],
  ['reasoning', 'reasoning'],
  ['output_audio', 'outputAudio'],
] as const satisfies readonly (readonly [label: string, field: keyof UsageRow])[]

/** The labels of what is counted of requests. */
export interface RequestLabels {
  readonly door: string
  readonly format: string
  readonly model: string
  readonly channel: string
  readonly upstream_format: string
  /** The class of the status: `2xx`; `cancelled` for 499. */
  readonly status: string
}

/** The same as plain JSON, for other processes. */
export interface CountedSeries {
  readonly labels: RequestLabels
  readonly counts: Counts
  readonly tokens: readonly number[]
  readonly errors: readonly (readonly [kind: string, count: number])[]
  /** In the order of `histograms`. */
  readonly histograms: readonly Counted[]
}

/** Sums over requests. */
interface Counts {
  requests: number
  attempts: number
  losses: number
  additions: number
  /** Requests that lost something. */
  lossy: number
  nanodollars: number
  /** Requests with tokens of unknown price. */
  unpriced: number
  /** Requests whose tokens are an estimate. */
  estimated: number
}

/** What is counted of the requests with one set of labels. */
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
  }
  readonly tokens: number[] = TOKEN_KINDS.map(() => 0)
  readonly errors = new Map<string, number>()
  readonly duration = new Histogram(DURATION)
  readonly firstByte = new Histogram(FIRST)
  readonly input = new Histogram(TOKENS)
  readonly output = new Histogram(TOKENS)

  constructor(labels: RequestLabels) {
    this.labels = labels
  }

  private get histograms(): readonly Histogram[] {
    return [this.duration, this.firstByte, this.input, this.output]
  }

  take(row: UsageRow): void {
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
    for (let kind = 0; kind < TOKEN_KINDS.length; kind++) this.tokens[kind]! += row[TOKEN_KINDS[kind]![1]] ?? 0
    if (row.error !== undefined && row.status !== CANCELLED)
      this.errors.set(row.error, (this.errors.get(row.error) ?? 0) + 1)
    this.duration.take(row.duration / 1000)
    if (row.firstByteAfter !== undefined) this.firstByte.take(row.firstByteAfter / 1000)
    if (row.input !== undefined) this.input.take(row.input)
    if (row.output !== undefined) this.output.take(row.output)
  }

  /** What it counted, as plain JSON. */
  get counted(): CountedSeries {
    const { labels, counts, tokens, errors, histograms } = this
    return {
      ...{ labels, counts, tokens, errors: [...errors] },
      histograms: histograms.map(({ counts, sum }) => ({ counts, sum })),
    }
  }

  /** Adds what one with the same labels counted. */
  add({ counts, tokens, errors, histograms }: CountedSeries): void {
    for (const name of Object.keys(counts) as (keyof Counts)[]) this.counts[name] += counts[name]
    for (const [kind, count] of tokens.entries()) this.tokens[kind]! += count
    for (const [error, count] of errors) this.errors.set(error, (this.errors.get(error) ?? 0) + count)
    for (const [place, histogram] of this.histograms.entries()) histogram.add(histograms[place]!)
  }
}
