import type { UsageRow } from '../usage/row.ts'
import { type Counted, Histogram } from './histogram.ts'

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
  /** The class of the status: `2xx`. */
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
  /** Requests that lost something. */
  lossy: number
  nanodollars: number
  /** Requests with tokens of unknown price. */
  unpriced: number
}

/** What is counted of the requests with one set of labels. */
export class Series {
  readonly labels: RequestLabels
  readonly counts: Counts = { requests: 0, attempts: 0, losses: 0, lossy: 0, nanodollars: 0, unpriced: 0 }
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
    if (row.losses > 0) {
      counts.losses += row.losses
      counts.lossy++
    }
    if (row.cost !== undefined) counts.nanodollars += row.cost
    else if (row.input !== undefined || row.output !== undefined) counts.unpriced++
    for (let kind = 0; kind < TOKEN_KINDS.length; kind++) this.tokens[kind]! += row[TOKEN_KINDS[kind]![1]] ?? 0
    if (row.error !== undefined) this.errors.set(row.error, (this.errors.get(row.error) ?? 0) + 1)
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
