import { useMemo } from 'preact/hooks'
import { time } from '../../format.ts'
import { locale } from '../../i18n/index.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/page.tsx'
import { TimeChart } from '../../ui/time-chart.tsx'
import { chartDataOf, type Loaded } from './chart-data.ts'
import { Legend } from './legend.tsx'
import { MEASURES } from './metrics.ts'
import { type Every, STEPS } from './ranges.ts'
import { Segments } from './segments.tsx'
import { text } from './texts.ts'
import { type Change, KINDS, PERCENTILES, type View } from './view.ts'

interface ChartCardProps {
  readonly loaded: Loaded
  readonly view: View
  readonly change: Change
  readonly now: number
  readonly onCsv: () => unknown
}

/** Card with the chart of the chosen metric over time. */
export function ChartCard({ loaded, view, change, now, onCsv }: ChartCardProps) {
  const words = text()
  const { metric, by, range } = loaded
  const measure = MEASURES[metric]
  const all = useMemo(() => chartDataOf(loaded, view.percentile, now), [loaded, view.percentile, locale.value])
  const series = useMemo(() => all.series.filter(({ id }) => !view.hidden.includes(id)), [all, view.hidden.join(',')])
  const what = words.metrics[metric]
  const grouped = by === '' ? '' : words.fields[by]
  const open = (index: number, id: string | undefined): void => {
    const at = new Date(all.times[index]!).toISOString()
    change({ list: { at, ...(by !== '' && id?.startsWith('=') ? { group: id.slice(1) } : {}) } })
  }
  return (
    <Card
      title={`${what} ${words.every[range.every]}`}
      actions={
        <>
          {!measure.adds && by !== '' && (
            <Segments
              label={words.percentile}
              value={view.percentile}
              options={PERCENTILES.map(value => ({ value, label: value }))}
              onValue={percentile => change({ percentile })}
            />
          )}
          {measure.adds && (
            <Segments
              label={words.chartKind}
              value={view.kind}
              options={KINDS.map(value => ({ value, label: words.kinds[value] }))}
              onValue={kind => change({ kind })}
            />
          )}
          <Button small icon="download" title={words.csvTimes} onClick={onCsv}>
            {words.csv}
          </Button>
        </>
      }
    >
      <TimeChart
        label={words.chart(what, grouped)}
        help={words.chartHelp}
        times={all.times}
        step={STEPS[range.every]}
        series={series}
        kind={measure.adds ? view.kind : 'lines'}
        utc={range.every === 'day'}
        format={measure.format}
        short={measure.short}
        timeOf={at => timeOf(at, range.every)}
        total={measure.adds ? words.total : undefined}
        hint={words.clickHint}
        onPoint={open}
      />
      <Legend
        series={all.series}
        kind={measure.adds ? view.kind : 'lines'}
        hidden={view.hidden}
        onHidden={hidden => change({ hidden })}
      />
    </Card>
  )
}

/** Formats an interval in the browser's time zone. Days are UTC days. */
export function timeOf(at: number, every: Every): string {
  if (every === 'day')
    return `${new Intl.DateTimeFormat(locale.value, { dateStyle: 'medium', timeZone: 'UTC' }).format(at)} (UTC)`
  if (every === 'minute') return time(at)
  const end = new Intl.DateTimeFormat(locale.value, { timeStyle: 'short' }).format(at + STEPS.hour)
  return `${time(at)} – ${end}`
}
