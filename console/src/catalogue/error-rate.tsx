import type { Channel } from '../api/types.ts'
import { number, percent } from '../format.ts'
import type { Tone } from '../ui/badge.tsx'

type Rate = Channel['last_5_minutes']

/** Error rates from which on the colour changes, highest first. */
const LEVELS: readonly (readonly [least: number, tone: Tone])[] = [
  [0.1, 'bad'],
  [0.01, 'warn'],
]

/** Colour of an error rate. */
export const toneOf = ({ error_rate }: Rate): Tone => LEVELS.find(([least]) => error_rate >= least)?.[1] ?? 'neutral'

/** Formats an error rate: `12.5%`, or a dash without requests. */
export const rateText = ({ requests, error_rate }: Rate): string => (requests === 0 ? '–' : percent(error_rate))

/** Formats the counts: `3 / 24` for 3 errors in 24 requests, empty without requests. */
export const countsText = ({ requests, errors }: Rate): string =>
  requests === 0 ? '' : `${number(errors)} / ${number(requests)}`

/** An error rate with its counts. */
export const ErrorRate = ({ of }: { readonly of: Rate }) => (
  <span class={`error-rate ${toneOf(of)}`}>
    {rateText(of)}
    <span class="note">{countsText(of)}</span>
  </span>
)
