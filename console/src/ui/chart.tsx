import 'uplot/dist/uPlot.min.css'
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import { theme } from '../theme.ts'

interface ChartProps {
  /** Unix seconds, then one list of values for each series. */
  readonly data: uPlot.AlignedData
  /** Each with the name of a colour of `tokens.css` (`--series-1`) as its stroke. */
  readonly series: readonly uPlot.Series[]
  readonly height?: number
  /** What it shows, for those who do not see it. */
  readonly label: string
  /** How values of the axis at the left are written. */
  readonly format?: (value: number) => string
  /** A click on a point: its index, and that of the series nearest to it. */
  readonly onPoint?: (index: number, series: number) => void
  readonly options?: Partial<uPlot.Options>
}

/** Values over time (uPlot), in the colours of the theme. */
export function Chart({ data, series, height = 220, label, format = String, onPoint, options = {} }: ChartProps) {
  const host = useRef<HTMLDivElement>(null)
  const chosen = theme.value
  useEffect(() => {
    const element = host.current!
    const axis = {
      stroke: colourOf(element, '--text-3'),
      grid: { stroke: colourOf(element, '--line'), width: 1 },
      ticks: { show: false },
    }
    const chart = new uPlot(
      {
        ...{ width: element.clientWidth, height, cursor: { points: { size: 7 }, y: false } },
        series: [{}, ...series.map(one => coloured(element, one))],
        axes: [axis, { ...axis, size: 64, values: (_, splits) => splits.map(format) }],
        ...options,
      },
      data,
      element,
    )
    const resize = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }))
    resize.observe(element)
    const click = (): void => {
      const at = chart.cursor.idx
      if (at !== null && at !== undefined) onPoint?.(at, nearest(chart, at))
    }
    chart.over.addEventListener('click', click)
    return () => {
      resize.disconnect()
      chart.destroy()
    }
  }, [data, series, chosen, height])
  return <div class="chart" ref={host} role="img" aria-label={label} />
}

/** The series whose line is nearest to the pointer. */
function nearest(chart: uPlot, at: number): number {
  const top = chart.cursor.top ?? 0
  const distances = chart.series.slice(1).map((_, index) => {
    const value = chart.data[index + 1]?.[at]
    return value === null || value === undefined ? Number.POSITIVE_INFINITY : Math.abs(chart.valToPos(value, 'y') - top)
  })
  return distances.indexOf(Math.min(...distances))
}

const coloured = (element: HTMLElement, series: uPlot.Series): uPlot.Series => ({
  width: 1.5,
  points: { show: false },
  ...series,
  ...(typeof series.stroke === 'string' ? { stroke: colourOf(element, series.stroke) } : {}),
  ...(typeof series.fill === 'string' ? { fill: colourOf(element, series.fill) } : {}),
})

/** A colour of the theme as canvases take it: custom properties are not computed, colours are. */
function colourOf(element: HTMLElement, name: string): string {
  if (!name.startsWith('--')) return name
  element.style.setProperty('color', `var(${name})`)
  const { color } = getComputedStyle(element)
  element.style.removeProperty('color')
  return color
}
