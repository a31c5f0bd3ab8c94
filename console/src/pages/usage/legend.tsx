import { DASHES } from '../../ui/chart/drawing.ts'
import type { ChartSeries } from '../../ui/chart/types.ts'
import { text } from './texts.ts'
import type { Kind } from './view.ts'

interface LegendProps {
  readonly series: readonly ChartSeries[]
  readonly kind: Kind
  readonly hidden: readonly string[]
  readonly onHidden: (hidden: readonly string[]) => void
}

/** Legend of a chart. Clicking a series hides or shows it. */
export const Legend = ({ series, kind, hidden, onHidden }: LegendProps) => (
  <div class="legend" role="group" aria-label={text().series}>
    {series.map(({ id, label, colour, dash }) => {
      const isHidden = hidden.includes(id)
      return (
        <button
          key={id}
          type="button"
          aria-pressed={!isHidden}
          onClick={() => onHidden(isHidden ? hidden.filter(one => one !== id) : [...hidden, id])}
        >
          {kind === 'bars' ? (
            <span class="swatch" style={{ background: `var(${colour})` }} />
          ) : (
            <svg class="stroke" width="26" height="10" aria-hidden="true" style={{ color: `var(${colour})` }}>
              <path d="M1 5h24" stroke-dasharray={DASHES[dash % DASHES.length]?.join(' ')} />
            </svg>
          )}
          <span class="cut">{label}</span>
        </button>
      )
    })}
  </div>
)
