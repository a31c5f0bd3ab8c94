import type { Request } from '../../api/types.ts'
import { duration } from '../../format.ts'
import { text } from './texts.ts'

/** Phase of a request's time. */
export type Phase = 'queue' | 'failed' | 'upstream' | 'stream'

/** One phase of a request with its start and duration. */
export interface Span {
  readonly phase: Phase
  /** Time since the start of the request, in milliseconds. */
  readonly from: number
  readonly to: number
  /** Channel of a failed attempt. */
  readonly channel?: string
}

/** Formats a duration. From 10 ms on it has no decimals. */
export const took = (milliseconds: number): string =>
  duration(milliseconds >= 10 ? Math.round(milliseconds) : milliseconds)

/** Phases of a request in order. */
export function spansOf(row: Request): readonly Span[] {
  const total = row.duration_ms
  const sent = Math.min(row.sent_after_ms ?? total, total)
  const first = Math.min(Math.max(row.first_byte_after_ms ?? row.answered_after_ms ?? total, sent), total)
  const spans: Span[] = []
  let at = 0
  for (const { channel, sent_after_ms: from, ended_after_ms: to } of row.tries ?? []) {
    spans.push({ phase: 'queue', from: at, to: from }, { phase: 'failed', from, to, channel })
    at = to
  }
  spans.push({ phase: 'queue', from: at, to: Math.max(sent, at) })
  if (row.sent_after_ms !== undefined)
    spans.push({ phase: 'upstream', from: sent, to: first }, { phase: 'stream', from: first, to: total })
  return spans.filter(({ from, to }) => to > from)
}

/** Text of the bar for screen readers. */
export const saidOf = (spans: readonly Span[]): string =>
  spans
    .map(({ phase, from, to, channel }) => `${text().phases[phase]}${channel ? ` ${channel}` : ''} ${took(to - from)}`)
    .join(', ')

/** Time below which the scale is nearly linear, in milliseconds. */
const NEARLY_LINEAR = 10
/** Times that the scale marks, in milliseconds. */
const MARKS = [10, 100, 1000, 10_000, 100_000]

/**
 * Place of a time on a logarithmic scale whose end is `scale`, in percent: a request of 100 ms and one of a minute are
 * both readable in one list.
 */
export const placeOf = (time: number, scale: number): number =>
  (Math.log1p(Math.min(time, scale) / NEARLY_LINEAR) / Math.log1p(scale / NEARLY_LINEAR)) * 100

/** Marks that have a label in a list, where there is no room for all. */
const LABELLED: ReadonlySet<number> = new Set([100, 10_000])

/** Marks of a scale that are apart from its ends, in milliseconds. */
const marksOf = (scale: number): readonly number[] =>
  MARKS.filter(mark => placeOf(mark, scale) > 8 && placeOf(mark, scale) < 92 && mark < scale)

interface WaterfallProps {
  readonly row: Request
  /** Duration of the full width, in milliseconds. */
  readonly scale: number
  readonly large?: boolean
}

/** Bar with the phases of a request on a logarithmic scale: queue, failed attempts, upstream, stream. */
export function Waterfall({ row, scale, large }: WaterfallProps) {
  const spans = spansOf(row)
  const said = saidOf(spans)
  return (
    <div class={large ? 'waterfall large' : 'waterfall'} role="img" aria-label={said} title={said}>
      {marksOf(scale).map(mark => (
        <i key={mark} style={{ left: `${placeOf(mark, scale)}%` }} />
      ))}
      {spans.map(({ phase, from, to }) => (
        <span
          key={`${phase}${from}`}
          class={phase}
          style={{
            left: `${Math.min(placeOf(from, scale), 99)}%`,
            width: `${placeOf(to, scale) - placeOf(from, scale)}%`,
          }}
        />
      ))}
    </div>
  )
}

/** Legend of the phases' colours. */
export const Legend = ({ failed }: { readonly failed: boolean }) => (
  <ul class="waterfall-legend">
    {(['queue', ...(failed ? (['failed'] as const) : []), 'upstream', 'stream'] as const).map(phase => (
      <li key={phase} title={text().phaseHints[phase]}>
        <span class={`swatch ${phase}`} />
        {text().phases[phase]}
      </li>
    ))}
  </ul>
)

/** Duration of the full width of a list's bars, in milliseconds: that of the slowest request. */
export const scaleOf = (rows: readonly Request[]): number => Math.max(1, ...rows.map(row => row.duration_ms))

/** Labels of the marks of a scale, above the bars of a list. */
export const Scale = ({ scale }: { readonly scale: number }) => (
  <span class="waterfall-scale" aria-hidden="true">
    {marksOf(scale)
      .filter(mark => LABELLED.has(mark))
      .map(mark => (
        <span key={mark} style={{ left: `${placeOf(mark, scale)}%` }}>
          {took(mark)}
        </span>
      ))}
  </span>
)
