import type { Pointed, TimeChartProps } from './types.ts'

type TipProps = TimeChartProps & { readonly pointed: Pointed; readonly width: number }

/** Tooltip with the values of the highlighted interval. */
export function Tip({ times, series, format, timeOf, total, hint, onPoint, pointed, width }: TipProps) {
  const rows = series.flatMap(({ id, label, colour, values }, place) => {
    const value = values[pointed.index]
    return value === null || value === undefined ? [] : [{ id, label, colour, value, on: place === pointed.series }]
  })
  const shown = rows.filter(({ value, on }) => on || value !== 0 || rows.length === 1)
  const sum = rows.reduce((all, { value }) => all + value, 0)
  const isLeft = pointed.left > width / 2
  const side = isLeft ? { right: `${width - pointed.left + 14}px` } : { left: `${pointed.left + 14}px` }
  return (
    <div class="tip" style={side}>
      <strong>{timeOf(times[pointed.index]!)}</strong>
      <dl>
        {shown.map(({ id, label, colour, value, on }) => (
          <div key={id} class={on ? 'on' : undefined}>
            <dt>
              <span class="swatch" style={{ background: `var(${colour})` }} />
              <span class="cut">{label}</span>
            </dt>
            <dd>{format(value)}</dd>
          </div>
        ))}
        {total !== undefined && rows.length > 1 && (
          <div class="sum">
            <dt>{total}</dt>
            <dd>{format(sum)}</dd>
          </div>
        )}
      </dl>
      {onPoint && hint && <small>{hint}</small>}
    </div>
  )
}
