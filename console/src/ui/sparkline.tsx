interface SparklineProps {
  readonly values: readonly number[]
  /** Text for screen readers and the tooltip. */
  readonly label: string
  readonly width?: number
  readonly height?: number
}

/** A small line chart without axes. */
export function Sparkline({ values, label, width = 96, height = 24 }: SparklineProps) {
  const top = Math.max(...values, 1)
  const x = (at: number): number => (values.length < 2 ? width / 2 : 1 + (at * (width - 2)) / (values.length - 1))
  const y = (value: number): number => height - 2 - (value / top) * (height - 4)
  const line = values.map((value, at) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(' ')
  const isFlat = values.every(value => value === 0)
  return (
    <svg
      class={isFlat ? 'sparkline flat' : 'sparkline'}
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      {!isFlat && <polygon points={`${x(0)},${height - 1} ${line} ${x(values.length - 1)},${height - 1}`} />}
      <polyline points={line} />
    </svg>
  )
}
