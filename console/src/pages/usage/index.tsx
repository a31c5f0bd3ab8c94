import './usage.css'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { UsageSum } from '../../api/types.ts'
import { useLoad } from '../../api/use-load.ts'
import { useShortcut } from '../../keyboard.ts'
import { Page } from '../../ui/page.tsx'
import { Problem } from '../../ui/states.tsx'
import { type Field, valueIn } from './fields.ts'
import { AddFilter, Filters } from './filters.tsx'
import { counted, loadGroups, loadSeries, loadTotal } from './load.ts'
import { RangeBar } from './range-bar.tsx'
import { rangeOf } from './ranges.ts'
import { Results } from './results.tsx'
import { text } from './texts.ts'
import { Totals } from './totals.tsx'
import { useView } from './view.ts'

/** Interval between two reloads, in milliseconds. */
const AGAIN = 60_000

/** Usage page: totals, a chart over time, a table of groups, and the requests behind them. */
export default function UsagePage() {
  const [view, change] = useView()
  const [now, refresh] = useNow()
  const [isFiltering, setFiltering] = useState(false)
  const filter = useCallback(() => setFiltering(true), [])
  useShortcut('f', filter, text().addFilter)
  const { metric, by, where } = view
  const range = rangeOf(view, now)
  const time = [range.since, range.until, now, JSON.stringify(where)]
  // The totals load first and alone, because users look at them first.
  const first = useRef<Promise<unknown>>(undefined)
  const totalsCame = async (): Promise<void> => void (await first.current?.catch(() => {}))
  const total = useLoad(signal => {
    const work = counted(range, one => loadTotal(one, one.exact, where, signal))
    first.current = work
    return work
  }, time)
  const before = useLoad(async signal => {
    await totalsCame()
    return (await counted(range, one => loadTotal(range.before, one.exact, where, signal))).data
  }, time)
  const groups = useLoad(
    async signal => {
      await totalsCame()
      if (by === '') return undefined
      return { by, ...(await counted(range, one => loadGroups(one, by, where, signal))).data }
    },
    [...time, by],
  )
  const rank = metric === 'first_byte' || metric === 'duration' ? 'requests' : metric
  const series = useLoad(
    async signal => {
      await totalsCame()
      const { range: seen, data } = await counted(range, one => loadSeries(one, by, metric, where, signal))
      return { range: seen, by, metric, sums: data }
    },
    [...time, by, by === '' ? '' : rank],
  )
  const words = text()
  const error = total.error ?? series.error ?? groups.error
  return (
    <Page title={words.title} lead={words.lead}>
      <RangeBar view={view} change={change} now={now} onFilter={filter} onRefresh={refresh} />
      <Filters where={where} range={range} onWhere={next => change({ where: next })} />
      {error && <Problem error={error} onRetry={refresh} />}
      {/* A failed load has no figures, and loads no longer. */}
      {(total.data !== undefined || total.error === undefined) && (
        <Totals
          total={total.data?.data}
          loading={total.data === undefined}
          before={before.data === undefined && before.loading ? null : before.data}
          hours={Math.max(1 / 60, (Math.min(range.until, now) - range.since) / 3_600_000)}
          metric={metric}
          onMetric={next => change({ metric: next, hidden: [], sort: '' })}
        />
      )}
      {series.data && (by === '' || groups.data) && (
        <Results
          view={view}
          change={change}
          now={now}
          // Old data stays until new data arrives. A new metric with the same grouping uses the same sums.
          loaded={{
            ...{ ...series.data, metric: series.data.by === by ? metric : series.data.metric },
            ranking: groups.data === undefined ? NOBODY : rankingOf(groups.data),
            isFirst: !before.loading && before.error === undefined && before.data === undefined,
          }}
          groups={groups.data}
        />
      )}
      {isFiltering && (
        <AddFilter
          where={where}
          range={range}
          onWhere={next => change({ where: next })}
          onClose={() => setFiltering(false)}
        />
      )}
    </Page>
  )
}

const NOBODY: readonly string[] = []

/** Values of the groups, those with the most requests first. */
const rankingOf = ({ by, sums }: { readonly by: Field; readonly sums: readonly UsageSum[] }): readonly string[] =>
  [...sums].sort((one, other) => other.requests - one.requests).map(sum => valueIn(sum, by))

/** Hook with the current time, updated every minute while the page is visible. */
function useNow(): readonly [number, () => void] {
  const [now, setNow] = useState(Date.now)
  const refresh = useCallback(() => setNow(Date.now()), [])
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && refresh(), AGAIN)
    return () => clearInterval(timer)
  }, [])
  return [now, refresh]
}
