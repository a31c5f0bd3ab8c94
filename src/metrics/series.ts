import type { UsageRow } from '../usage/row.ts'
import { Histogram } from './histogram.ts'

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

/** What is counted of the requests with one set of labels. */
export class Series {
  readonly labels: RequestLabels
  requests = 0
  attempts = 0
  losses = 0
  lossy = 0
  nanodollars = 0
  unpriced = 0
  readonly tokens: number[] = TOKEN_KINDS.map(() => 0)
  readonly errors = new Map<string, number>()
  readonly duration = new Histogram(DURATION)
  readonly firstByte = new Histogram(FIRST)
  readonly input = new Histogram(TOKENS)
  readonly output = new Histogram(TOKENS)

  constructor(labels: RequestLabels) {
    this.labels = labels
  }

  take(row: UsageRow): void {
    this.requests++
    this.attempts += row.attempts
    if (row.losses > 0) {
      this.losses += row.losses
      this.lossy++
    }
    if (row.cost !== undefined) this.nanodollars += row.cost
    else if (row.input !== undefined || row.output !== undefined) this.unpriced++
    for (let kind = 0; kind < TOKEN_KINDS.length; kind++) this.tokens[kind]! += row[TOKEN_KINDS[kind]![1]] ?? 0
    if (row.error !== undefined) this.errors.set(row.error, (this.errors.get(row.error) ?? 0) + 1)
    this.duration.take(row.duration / 1000)
    if (row.firstByteAfter !== undefined) this.firstByte.take(row.firstByteAfter / 1000)
    if (row.input !== undefined) this.input.take(row.input)
    if (row.output !== undefined) this.output.take(row.output)
  }
}
