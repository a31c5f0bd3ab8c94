import type { ComponentChildren } from 'preact'
import type { Tone } from './badge.tsx'

/** List of labels and values, one below the other. */
export const Facts = ({ children }: { readonly children: ComponentChildren }) => <dl class="fact-list">{children}</dl>

interface FactProps {
  readonly label: string
  readonly children: ComponentChildren
}

/** One row of `Facts`. */
export const Fact = ({ label, children }: FactProps) => (
  <div>
    <dt>{label}</dt>
    <dd>{children}</dd>
  </div>
)

/** Row of key figures. */
export const Tiles = ({ children }: { readonly children: ComponentChildren }) => <dl class="tiles">{children}</dl>

interface TileProps {
  readonly label: string
  readonly value: string
  /** Small text below the value, such as its parts. */
  readonly note?: string | undefined
  readonly tone?: Tone | undefined
}

/** One key figure of `Tiles`. */
export const Tile = ({ label, value, note, tone = 'neutral' }: TileProps) => (
  <div>
    <dt>{label}</dt>
    <dd class={`tile-value ${tone}`}>{value}</dd>
    {note !== undefined && <dd class="note">{note}</dd>}
  </div>
)
