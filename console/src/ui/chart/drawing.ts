import uPlot from 'uplot'
import { locale } from '../../i18n/index.ts'
import type { ChartSeries, Pointed } from './types.ts'

interface Data {
  /** Start of each interval, in Unix milliseconds. */
  readonly times: readonly number[]
  readonly step: number
  readonly series: readonly ChartSeries[]
  readonly kind: 'bars' | 'lines'
}

interface Options {
  readonly utc: boolean
  readonly height: number
  readonly short: (value: number) => string
  readonly onPointed: (pointed: Pointed | undefined) => void
}

/** A drawn chart. */
export interface Drawn {
  /** Pixels from the left edge to an interval. */
  leftOf(index: number): number
  /** Highlights an interval, or none. */
  mark(pointed: Pointed | undefined): void
  destroy(): void
}

/** Dash patterns of lines, so that series differ by more than colour. */
export const DASHES: readonly (number[] | undefined)[] = [
  undefined,
  [8, 4],
  [2, 3],
  [10, 3, 2, 3],
  [5, 3],
  [1, 2],
  [12, 4],
]
/** Maximum distance between the pointer and the line it selects, in pixels. */
const NEAR = 28
const FONT = '12px "Inter Variable", system-ui, -apple-system, "Segoe UI", sans-serif'

/** Draws a chart with uPlot into an element and follows the element's width. */
export function drawingOf(element: HTMLElement, data: Data, options: Options): Drawn {
  const { times, step, series, kind } = data
  const isStacked = kind === 'bars'
  const stacks = isStacked ? stacked(series) : series.map(({ values }) => values)
  const axis = {
    stroke: colourOf(element, '--text-3'),
    font: FONT,
    grid: { stroke: colourOf(element, '--line'), width: 1 },
    ticks: { show: false },
  }
  // Narrow bars get no border, because it would cover them.
  const hasRoom = element.clientWidth / times.length > 5
  const surface = colourOf(element, '--surface')
  const drawn = series.map((one): uPlot.Series => {
    const colour = colourOf(element, one.colour)
    const common = { stroke: colour, points: { show: false } }
    if (isStacked)
      return { ...common, fill: colour, stroke: surface, width: hasRoom ? 1 : 0, paths: barsOf(times.length) }
    const dash = DASHES[one.dash % DASHES.length]
    return {
      ...common,
      width: 2,
      spanGaps: false,
      points: { show: times.length < 40, size: 5, fill: colour },
      ...(dash && { dash }),
    }
  })
  const [first, last] = [times[0]! / 1000, (times.at(-1)! + step) / 1000]
  const half = isStacked ? 0 : step / 2000
  // Stacks are drawn from the highest to the lowest, so that the lower ones stay visible.
  const order = isStacked ? series.map((_, place) => series.length - 1 - place) : series.map((_, place) => place)
  let current: string | undefined
  const chart = new uPlot(
    {
      ...{ width: element.clientWidth, height: options.height, legend: { show: false }, padding: [12, 8, 0, 0] },
      ...(options.utc ? { tzDate: (at: number) => uPlot.tzDate(new Date(at * 1000), 'Etc/UTC') } : {}),
      cursor: {
        y: false,
        points: { show: !isStacked, size: 8 },
        drag: { x: false, y: false, setScale: false },
        x: !isStacked,
      },
      scales: {
        x: { range: () => [first - half, last - half] },
        y: { range: (_, __, max) => [0, max > 0 ? max * 1.05 : 1] },
      },
      series: [{}, ...order.map(place => drawn[place]!)],
      axes: [
        {
          ...axis,
          grid: { show: false },
          space: 70,
          size: 28,
          values: (_, splits) => splits.map(at => (at < last ? labelOf(at * 1000, data, options.utc) : '')),
        },
        { ...axis, size: widthOf, gap: 6, values: (_, splits) => splits.map(options.short) },
      ],
      hooks: {
        setCursor: [
          one => {
            const pointed = pointedBy(one)
            const name = pointed && `${pointed.index} ${pointed.series}`
            if (name === current) return
            current = name
            if (pointed !== undefined) options.onPointed(pointed)
          },
        ],
      },
    },
    [times.map(at => at / 1000), ...order.map(place => stacks[place]!)] as uPlot.AlignedData,
    element,
  )
  const band = document.createElement('div')
  band.className = 'band'
  chart.over.prepend(band)

  function pointedBy(one: uPlot): Pointed | undefined {
    const { left = -1, top = -1 } = one.cursor
    if (left < 0) return undefined
    const index = isStacked ? indexAt(one.posToVal(left, 'x')) : (one.cursor.idx ?? 0)
    return { index, series: seriesAt(one, index, top), left: leftOf(index) }
  }
  const indexAt = (seconds: number): number =>
    Math.min(times.length - 1, Math.max(0, Math.floor((seconds - first) / (step / 1000))))
  function seriesAt(one: uPlot, index: number, top: number): number | undefined {
    if (isStacked) {
      const value = one.posToVal(top, 'y')
      const at = stacks.findIndex(values => value <= (values[index] ?? 0))
      return at === -1 ? undefined : at
    }
    const distances = stacks.map(values => {
      const value = values[index]
      return value === null || value === undefined ? Number.POSITIVE_INFINITY : Math.abs(one.valToPos(value, 'y') - top)
    })
    const least = Math.min(...distances)
    return least <= NEAR ? distances.indexOf(least) : undefined
  }
  const centre = (index: number): number => times[index]! / 1000 + (isStacked ? step / 2000 : 0)
  const leftOf = (index: number): number => chart.valToPos(centre(index), 'x') + chart.over.offsetLeft

  const resize = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: options.height }))
  resize.observe(element)
  return {
    leftOf,
    mark(pointed) {
      if (pointed === undefined || pointed.index >= times.length) {
        band.style.setProperty('display', 'none')
        current = undefined
        return
      }
      const begin = times[pointed.index]! / 1000 - half
      const [from, to] = [chart.valToPos(begin, 'x'), chart.valToPos(begin + step / 1000, 'x')]
      band.style.setProperty('display', 'block')
      band.style.setProperty('left', `${from}px`)
      band.style.setProperty('width', `${Math.max(2, to - from)}px`)
    },
    destroy() {
      resize.disconnect()
      chart.destroy()
    },
  }
}

/** Width of the left axis, in pixels, derived from its longest label. */
const widthOf = (_: uPlot, values: readonly string[] | null): number =>
  Math.max(44, 16 + 7 * Math.max(...(values ?? []).map(one => one.length)))

/** Bars that begin at the start of their interval, with gaps if there are at most 100. */
const barsOf = (count: number) => uPlot.paths.bars!({ align: 1, size: [count > 100 ? 1 : 0.82, 60], gap: 0 })

/** Upper edge of each series in a stack: its values plus those of all series before it. */
function stacked(series: readonly ChartSeries[]): (number | null)[][] {
  let below: readonly (number | null)[] = []
  return series.map(({ values }) => {
    const top = values.map((value, at) => (value ?? 0) + (below[at] ?? 0))
    below = top
    return top
  })
}

/** Label of a point on the time axis: the date at midnight, the time otherwise. */
function labelOf(at: number, { step }: Data, utc: boolean): string {
  const date = new Date(at)
  const isMidnight = utc || (date.getHours() === 0 && date.getMinutes() === 0)
  const zone = utc ? { timeZone: 'UTC' } : {}
  const style: Intl.DateTimeFormatOptions =
    isMidnight || step >= 86_400_000 ? { day: 'numeric', month: 'short' } : { hour: '2-digit', minute: '2-digit' }
  return new Intl.DateTimeFormat(locale.value, { ...style, ...zone }).format(date)
}

/**
 * Resolves a CSS custom property to a colour for the canvas. Browsers compute a value for `color` but not for custom
 * properties.
 */
function colourOf(element: HTMLElement, name: string): string {
  element.style.setProperty('color', `var(${name})`)
  const { color } = getComputedStyle(element)
  element.style.removeProperty('color')
  return color
}
