/** One line or one layer of bars of a time chart. */
export interface ChartSeries {
  readonly id: string
  readonly label: string
  /** CSS custom property with the colour, such as `--accent`. */
  readonly colour: string
  /** Index of the line's dash pattern, which tells series apart without colours. */
  readonly dash: number
  /** One value per point in time. Null if there is none. */
  readonly values: readonly (number | null)[]
}

/** Data, texts and callbacks of a time chart. */
export interface TimeChartProps {
  /** Title for screen readers. */
  readonly label: string
  /** Keyboard instructions for screen readers. */
  readonly help: string
  /** Start of each interval, in Unix milliseconds. */
  readonly times: readonly number[]
  /** Length of an interval, in milliseconds. */
  readonly step: number
  readonly series: readonly ChartSeries[]
  /** Stacked bars or separate lines. */
  readonly kind: 'bars' | 'lines'
  /** Whether intervals start in UTC instead of the browser's time zone. */
  readonly utc?: boolean
  /** Height of the chart, in pixels. */
  readonly height?: number
  /** Formats a value for the tooltip. */
  readonly format: (value: number) => string
  /** Formats a value for the axis. */
  readonly short: (value: number) => string
  /** Formats the start of an interval, in Unix milliseconds. */
  readonly timeOf: (at: number) => string
  /** Label for the sum of all series in the tooltip. Without it no sum is shown. */
  readonly total?: string | undefined
  /** Line below the values of the tooltip that says what a click does. */
  readonly hint?: string
  /** Called when the user chooses a point: of one series by its id, or of all series. */
  readonly onPoint?: (index: number, series: string | undefined) => void
}

/** The highlighted point of a chart. */
export interface Pointed {
  /** Index of the interval. */
  readonly index: number
  /** Index of the series. Undefined for all series. */
  readonly series: number | undefined
  /** Distance from the left edge, in pixels. */
  readonly left: number
  /** Whether the keyboard moved the highlight. */
  readonly byKey?: true
}
