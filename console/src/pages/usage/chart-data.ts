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
  /** Values of the groups, those with the most requests first, so that a group has one colour in every metric. */
  readonly ranking?: readonly string[]
  /** Whether there are no requests before the range. */
  readonly isFirst?: boolean
}

/** Times and series of the chart: one series per group, or per part of the metric. */
export interface ChartData {
  readonly times: readonly number[]
  readonly series: readonly ChartSeries[]
}

/** Id of the series with all smaller groups. */
export const OTHERS = '*'

/** Number of colours of groups. */
const COLOURS = 6
/** Id of the group without a value, such as requests that no channel got. It has a colour of its own. */
const NONE = '='
/** Least number of intervals of a chart. */
const LEAST = 6

/** Colour of each group: the place of its value in the ranking, or the first that is free. */
function coloursOf(ids: readonly string[], ranking: readonly string[]): ReadonlyMap<string, string> {
  const ranked = ranking.map(value => `=${value}`).filter(id => id !== NONE)
  const places = new Map(ids.map(id => [id, ranked.indexOf(id)] as const).filter(([, at]) => at >= 0 && at < COLOURS))
  const free = Array.from({ length: COLOURS }, (_, at) => at).filter(at => ![...places.values()].includes(at))
  return new Map(
    ids.map(id => [id, id === NONE ? '--chart-none' : `--chart-${(places.get(id) ?? free.shift() ?? 0) + 1}`]),
  )
}

/** Intervals to show. Before the first request ever there is nothing to see, so a new installation has no empty hours. */
function shownOf(times: readonly number[], sums: readonly UsageSum[], isFirst: boolean): readonly number[] {
  if (!isFirst) return times
  const first = Math.min(...sums.map(({ at }) => Date.parse(at ?? '')).filter(at => !Number.isNaN(at)))
  const from = times.findIndex(at => at >= first)
  return from < 1 ? times : times.slice(Math.max(0, Math.min(from - 1, times.length - LEAST)))
}

/** Converts usage sums to chart data, with the largest groups first. */
export function chartDataOf(
  { range, by, metric, sums, ranking = [], isFirst = false }: Loaded,
  percentile: Percentile,
  now: number,
): ChartData {
  const times = shownOf(pointsOf(range, range.every, now), sums, isFirst)
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
    const colours = coloursOf(
      named.map(([id]) => id),
      ranking,
    )
    return {
      times,
      series: [...named, ...others].map(([id, all], place) => ({
        id,
        label: nameOf(all[0]!, by),
        colour: colours.get(id) ?? '--chart-others',
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
