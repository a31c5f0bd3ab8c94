import 'uplot/dist/uPlot.min.css'
import './chart/chart.css'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { language } from '../i18n/index.ts'
import { theme } from '../theme.ts'
import { type Drawn, drawingOf } from './chart/drawing.ts'
import { Tip } from './chart/tip.tsx'
import type { Pointed, TimeChartProps } from './chart/types.ts'

/** Chart of values over time (uPlot), usable with pointer and keyboard. */
export function TimeChart(props: TimeChartProps) {
  const { label, help, times, step, series, kind, utc = false, height = 260, short } = props
  const host = useRef<HTMLDivElement>(null)
  const drawn = useRef<Drawn | undefined>(undefined)
  const [pointed, setPointed] = useState<Pointed>()
  const latest = useRef(props)
  latest.current = props
  const dark = useDark()
  const data = useMemo(() => ({ times, series, kind, step }), [times, series, kind, step])

  useEffect(() => {
    const element = host.current!
    const made = drawingOf(element, data, { utc, height, short, onPointed: setPointed })
    drawn.current = made
    return () => {
      made.destroy()
      drawn.current = undefined
    }
  }, [data, utc, height, theme.value, dark, language.value])

  useEffect(() => drawn.current?.mark(pointed), [pointed, data])

  const choose = (): void => {
    if (pointed !== undefined)
      props.onPoint?.(pointed.index, pointed.series === undefined ? undefined : series[pointed.series]?.id)
  }
  const move = (event: KeyboardEvent): void => {
    const at = pointed?.index ?? times.length
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: times.length - 1 }[event.key]
    const which = { ArrowUp: -1, ArrowDown: 1 }[event.key]
    if (to !== undefined) point(Math.min(times.length - 1, Math.max(0, to)), pointed?.series)
    else if (which !== undefined) point(Math.min(at, times.length - 1), next(pointed?.series, which, series.length))
    else if (event.key === 'Escape') setPointed(undefined)
    else if (event.key === 'Enter' || event.key === ' ') choose()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const point = (index: number, which: number | undefined): void =>
    setPointed({ index, series: which, left: drawn.current?.leftOf(index) ?? 0, byKey: true })

  return (
    <div
      class={props.onPoint ? 'time-chart opens' : 'time-chart'}
      style={{ height: `${height}px` }}
      role="application"
      aria-label={`${label}. ${help}`}
      tabIndex={0}
      onKeyDown={move}
      onBlur={() => setPointed(undefined)}
      onPointerLeave={event => event.pointerType === 'mouse' && setPointed(undefined)}
      onClick={choose}
    >
      <div class="canvas" ref={host} aria-hidden="true" />
      {pointed && pointed.index < times.length && (
        <Tip {...props} pointed={pointed} width={host.current!.clientWidth} />
      )}
      <div class="unseen" aria-live="polite">
        {pointed?.byKey && spoken(props, pointed)}
      </div>
    </div>
  )
}

/** Moves the selection by one series. Undefined (all series) comes before the first. */
function next(current: number | undefined, step: number, count: number): number | undefined {
  const to = (current ?? -1) + step
  return to < 0 ? undefined : Math.min(to, count - 1)
}

function spoken({ times, series, timeOf, format }: TimeChartProps, { index, series: which }: Pointed): string {
  const all = which === undefined ? series : series.slice(which, which + 1)
  const values = all.flatMap(({ label, values }) => {
    const value = values[index]
    return value === null || value === undefined ? [] : [`${label} ${format(value)}`]
  })
  return [timeOf(times[index]!), ...values].join(', ')
}

/** Whether the browser prefers a dark theme, which the theme `system` follows. */
function useDark(): boolean {
  const query = useMemo(() => matchMedia('(prefers-color-scheme: dark)'), [])
  const [dark, setDark] = useState(query.matches)
  useEffect(() => {
    const look = (): void => setDark(query.matches)
    query.addEventListener('change', look)
    return () => query.removeEventListener('change', look)
  }, [query])
  return dark
}
