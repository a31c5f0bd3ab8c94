import type { UsageSum } from '../../api/types.ts'
import { costText } from '../../catalogue/cost.ts'
import { money, number, percent } from '../../format.ts'
import { MEASURES, timed } from './metrics.ts'
import { text } from './texts.ts'
import { METRICS, type Metric } from './view.ts'

interface TotalsProps {
  readonly total: UsageSum | undefined
  /** Total of the preceding span. Null while loading. */
  readonly before: UsageSum | undefined | null
  readonly loading: boolean
  /** Hours of the range that have passed. */
  readonly hours: number
  readonly metric: Metric
  readonly onMetric: (metric: Metric) => void
}

/** Totals of the range with their change. Clicking a total shows its metric in the chart. */
export const Totals = ({ total, before, loading, hours, metric, onMetric }: TotalsProps) => (
  <div
    class={loading ? 'totals loading-figures' : 'totals'}
    role="group"
    aria-busy={loading}
    aria-label={text().metric}
  >
    {METRICS.map(one => (
      <button key={one} type="button" aria-pressed={one === metric} onClick={() => onMetric(one)}>
        <span class="name">
          {text().metrics[one]}
          {!loading && before !== null && <Change metric={one} total={total} before={before} />}
        </span>
        <strong>{loading ? '…' : figureOf(one, total)}</strong>
        <span class="note">{noteOf(one, total, hours)}</span>
      </button>
    ))}
  </div>
)

const value = (metric: Metric, sum: UsageSum | undefined): number | undefined =>
  sum === undefined ? (MEASURES[metric].adds ? 0 : undefined) : MEASURES[metric].value(sum, 'p50')

function figureOf(metric: Metric, sum: UsageSum | undefined): string {
  const figure = value(metric, sum)
  if (metric === 'cost') return sum === undefined ? money(0) : costText(sum)
  if (figure === undefined) return '–'
  if (!MEASURES[metric].adds) return timed(figure)
  return number(figure, { short: figure >= 100_000 })
}

function noteOf(metric: Metric, sum: UsageSum | undefined, hours: number): string {
  const words = text()
  if (sum === undefined) return ' '
  if (metric === 'errors') return words.ofRequests(percent(sum.errors / sum.requests))
  if (metric === 'tokens')
    return words.inAndOut(number(sum.input_tokens, { short: true }), number(sum.output_tokens, { short: true }))
  if (metric === 'cost') return costNoteOf(sum)
  if (metric === 'requests') return words.anHour(number(Number((sum.requests / hours).toPrecision(3))))
  const timings = metric === 'duration' ? sum.duration_ms : sum.first_byte_ms
  return timings === undefined ? words.noTimings : words.percentiles(timed(timings.p95), timed(timings.p99))
}

function costNoteOf({ unpriced, estimated }: UsageSum): string {
  const words = text()
  const known = unpriced === 0 ? words.allPriced : words.unpriced(number(unpriced))
  return estimated === 0 ? known : `${known} · ${words.estimated(number(estimated))}`
}

/** Metrics for which an increase is bad. */
const WORSE: ReadonlySet<Metric> = new Set(['errors', 'first_byte', 'duration'])

interface ChangeProps {
  readonly metric: Metric
  readonly total: UsageSum | undefined
  readonly before: UsageSum | undefined
}

function Change({ metric, total, before }: ChangeProps) {
  const words = text()
  const [now, then] = [value(metric, total), value(metric, before)]
  if (now === undefined || then === undefined || then === 0) {
    return <span class="unseen">{words.noneBefore}</span>
  }
  const share = (now - then) / then
  const isSame = Math.abs(share) < 0.0005
  const tone = isSame || !WORSE.has(metric) ? '' : share > 0 ? 'bad' : 'good'
  const title = words.before(figureOf(metric, before))
  return (
    <span class={`change ${tone}`} title={title}>
      <span aria-hidden="true">{isSame ? '=' : share > 0 ? '▲' : '▼'}</span>{' '}
      {Math.abs(share) > 9.99 ? `×${number(Math.round(now / then))}` : percent(Math.abs(share))}
      <span class="unseen">{title}</span>
    </span>
  )
}
