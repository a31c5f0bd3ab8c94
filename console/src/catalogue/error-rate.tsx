import type { Channel } from '../api/types.ts'
import { number, percent } from '../format.ts'
import type { Tone } from '../ui/badge.tsx'

type Rate = Channel['last_5_minutes']

/** Shares of errors from which on a rate is worrying, and bad. */
const LEVELS: readonly (readonly [least: number, tone: Tone])[] = [
  [0.1, 'bad'],
  [0.01, 'warn'],
]

export const toneOf = ({ error_rate }: Rate): Tone => LEVELS.find(([least]) => error_rate >= least)?.[1] ?? 'neutral'

/** `12.5%`, or a dash where there was no request. */
export const rateText = ({ requests, error_rate }: Rate): string => (requests === 0 ? '–' : percent(error_rate))

/** `3 / 24`: errors of requests. */
export const countsText = ({ requests, errors }: Rate): string =>
  requests === 0 ? '' : `${number(errors)} / ${number(requests)}`

/** A rate of errors with what it is of. */
export const ErrorRate = ({ of }: { readonly of: Rate }) => (
  <span class={`error-rate ${toneOf(of)}`}>
    {rateText(of)}
    <span class="note">{countsText(of)}</span>
  </span>
)
