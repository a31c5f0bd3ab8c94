import type { UsageSum } from '../../api/types.ts'
import { duration, money, number } from '../../format.ts'
import type { text } from './texts.ts'
import type { Metric, Percentile } from './view.ts'

type Part = keyof ReturnType<typeof text>['parts']

/** How one metric is computed, formatted and split. */
export interface Measure {
  /** API measure that ranks the groups. */
  readonly rank: 'requests' | 'errors' | 'tokens' | 'cost'
  /** Whether the values of groups can be added. Latencies cannot. */
  readonly adds: boolean
  readonly value: (sum: UsageSum, percentile: Percentile) => number | undefined
  readonly format: (value: number) => string
  /** Formats a value for the axis. */
  readonly short: (value: number) => string
  /** Parts to show as series when usage is not grouped. */
  readonly parts?: readonly { readonly id: Part; readonly value: (sum: UsageSum) => number; readonly colour: string }[]
}

const short = (value: number): string => number(value, { short: true })
const dollars = (value: number): string => (value >= 1000 ? `$${short(value)}` : money(value))

const series = (at: number): string => `--chart-${at}`

const inputOf = (sum: UsageSum): number =>
  Math.max(0, sum.input_tokens - sum.cache_read_tokens - sum.cache_write_tokens - sum.input_audio_tokens)
const outputOf = (sum: UsageSum): number =>
  Math.max(0, sum.output_tokens - sum.reasoning_tokens - sum.output_audio_tokens)

/**
 * Formats a percentile with 3 digits. Percentiles come from histograms, so more digits would suggest a precision they
 * do not have.
 */
export const timed = (milliseconds: number): string => duration(Number(milliseconds.toPrecision(3)))

const timing = (name: 'first_byte_ms' | 'duration_ms'): Measure => ({
  rank: 'requests',
  adds: false,
  value: (sum, percentile) => sum[name]?.[percentile],
  format: timed,
  short: timed,
})

/** All metrics. */
export const MEASURES: { readonly [M in Metric]: Measure } = {
  requests: {
    ...{ rank: 'requests', adds: true, format: number, short },
    value: sum => sum.requests,
    parts: [
      { id: 'succeeded', value: sum => sum.requests - sum.errors - sum.cancelled, colour: series(1) },
      { id: 'failed', value: sum => sum.errors, colour: '--chart-bad' },
      { id: 'cancelled', value: sum => sum.cancelled, colour: series(3) },
    ],
  },
  tokens: {
    ...{ rank: 'tokens', adds: true, format: number, short },
    value: sum => sum.input_tokens + sum.output_tokens,
    parts: [
      { id: 'input', value: inputOf, colour: series(1) },
      { id: 'cache_read', value: sum => sum.cache_read_tokens, colour: series(5) },
      { id: 'cache_write', value: sum => sum.cache_write_tokens, colour: series(3) },
      { id: 'output', value: outputOf, colour: series(2) },
      { id: 'reasoning', value: sum => sum.reasoning_tokens, colour: series(4) },
      { id: 'audio', value: sum => sum.input_audio_tokens + sum.output_audio_tokens, colour: series(6) },
    ],
  },
  cost: {
    ...{ rank: 'cost', adds: true, format: money, short: dollars },
    value: sum => (sum.cost === 0 && sum.unpriced > 0 ? undefined : sum.cost),
  },
  errors: { ...{ rank: 'errors', adds: true, format: number, short }, value: sum => sum.errors },
  first_byte: timing('first_byte_ms'),
  duration: timing('duration_ms'),
}
