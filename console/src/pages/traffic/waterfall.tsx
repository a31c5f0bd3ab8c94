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

interface WaterfallProps {
  readonly row: Request
  /** Duration of the full width, in milliseconds. */
  readonly scale: number
  readonly large?: boolean
}

/** Bar with the phases of a request: queue, failed attempts, upstream, stream. */
export function Waterfall({ row, scale, large }: WaterfallProps) {
  const spans = spansOf(row)
  const said = saidOf(spans)
  return (
    <div class={large ? 'waterfall large' : 'waterfall'} role="img" aria-label={said} title={said}>
      {spans.map(({ phase, from, to }) => (
        <span
          key={`${phase}${from}`}
          class={phase}
          style={{
            left: `${Math.min((from / scale) * 100, 99)}%`,
            width: `${Math.min(((to - from) / scale) * 100, 100)}%`,
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

/**
 * Duration of the full width of a list's bars, in milliseconds. A few slow requests do not make the others invisible.
 */
export function scaleOf(rows: readonly Request[]): number {
  const sorted = rows.map(row => row.duration_ms).sort((a, b) => a - b)
  if (sorted.length === 0) return 1
  return Math.max(1, Math.min(sorted.at(-1)!, sorted[Math.floor((sorted.length - 1) * 0.9)]! * 1.5))
}
