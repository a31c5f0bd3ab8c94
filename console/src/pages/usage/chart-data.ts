import type { UsageSum } from '../../api/types.ts'
import type { ChartSeries } from '../../ui/chart/types.ts'
import { type Field, nameOf, valueIn } from './fields.ts'
import { MEASURES } from './metrics.ts'
import { pointsOf, type Range } from './ranges.ts'
import { text } from './texts.ts'
import { type Metric, PERCENTILES, type Percentile } from './view.ts'

/** Loaded sums with the range and grouping they belong to. */
export interface Loaded {
  readonly range: Range
  readonly by: Field | ''
  readonly metric: Metric
  readonly sums: readonly UsageSum[]
}

/** Times and series of the chart: one series per group, or per part of the metric. */
export interface ChartData {
  readonly times: readonly number[]
  readonly series: readonly ChartSeries[]
}

/** Id of the series with all smaller groups. */
export const OTHERS = '*'

/** Converts usage sums to chart data, with the largest groups first. */
export function chartDataOf({ range, by, metric, sums }: Loaded, percentile: Percentile, now: number): ChartData {
  const times = pointsOf(range, range.every, now)
  const places = new Map(times.map((at, place) => [at, place]))
  const measure = MEASURES[metric]
  const empty = measure.adds ? 0 : null
  const line = (all: readonly UsageSum[], value: (sum: UsageSum) => number | undefined) => {
    const values: (number | null)[] = times.map(() => empty)
    for (const sum of all) {
      const place = places.get(Date.parse(sum.at ?? ''))
      if (place !== undefined) values[place] = value(sum) ?? null
    }
    return values
  }
  if (by !== '') {
    const rank = (all: readonly UsageSum[]) =>
      all.reduce((sum, one) => sum + (measure.adds ? (measure.value(one, percentile) ?? 0) : one.requests), 0)
    const groups = [...Map.groupBy(sums, sum => (sum.others === true ? OTHERS : `=${valueIn(sum, by)}`))]
    const named = groups.filter(([id]) => id !== OTHERS).sort(([, a], [, b]) => rank(b) - rank(a))
    const others = groups.filter(([id]) => id === OTHERS)
    return {
      times,
      series: [...named, ...others].map(([id, all], place) => ({
        id,
        label: nameOf(all[0]!, by),
        colour: id === OTHERS ? '--chart-others' : `--chart-${place + 1}`,
        dash: place,
        values: line(all, sum => measure.value(sum, percentile)),
      })),
    }
  }
  const { parts } = measure
  if (parts !== undefined) {
    const all = parts.map(({ id, colour, value }, dash) => ({
      dash,
      id,
      colour,
      label: text().parts[id],
      values: line(sums, value),
    }))
    // Parts without any value are left out.
    return { times, series: all.filter(({ values }, place) => place === 0 || values.some(value => (value ?? 0) > 0)) }
  }
  if (measure.adds) {
    const colour = metric === 'errors' ? '--chart-bad' : '--chart-1'
    return {
      times,
      series: [
        {
          id: metric,
          dash: 0,
          label: text().metrics[metric],
          colour,
          values: line(sums, sum => measure.value(sum, 'p50')),
        },
      ],
    }
  }
  return {
    times,
    series: PERCENTILES.map((one, place) => ({
      ...{ id: one, label: one, colour: `--chart-${place + 1}`, dash: place },
      values: line(sums, sum => measure.value(sum, one)),
    })),
  }
}
