import type { ChartSeries } from '../../ui/time-chart.tsx'
import { text } from './texts.ts'

interface LegendProps {
  readonly series: readonly ChartSeries[]
  readonly hidden: readonly string[]
  readonly onHidden: (hidden: readonly string[]) => void
}

/** The series of a chart; each can be left out. */
export const Legend = ({ series, hidden, onHidden }: LegendProps) => (
  <div class="legend" role="group" aria-label={text().series}>
    {series.map(({ id, label, colour }) => {
      const isHidden = hidden.includes(id)
      return (
        <button
          key={id}
          type="button"
          aria-pressed={!isHidden}
          onClick={() => onHidden(isHidden ? hidden.filter(one => one !== id) : [...hidden, id])}
        >
          <span class="swatch" style={{ background: `var(${colour})` }} />
          <span class="cut">{label}</span>
        </button>
      )
    })}
  </div>
)
