import type { ComponentChildren } from 'preact'
import type { Tone } from './badge.tsx'

/** Names and values, one beneath the other. */
export const Facts = ({ children }: { readonly children: ComponentChildren }) => <dl class="fact-list">{children}</dl>

interface FactProps {
  readonly label: string
  readonly children: ComponentChildren
}

export const Fact = ({ label, children }: FactProps) => (
  <div>
    <dt>{label}</dt>
    <dd>{children}</dd>
  </div>
)

/** Figures side by side. */
export const Tiles = ({ children }: { readonly children: ComponentChildren }) => <dl class="tiles">{children}</dl>

interface TileProps {
  readonly label: string
  readonly value: string
  /** What the value is made of. */
  readonly note?: string | undefined
  readonly tone?: Tone | undefined
}

export const Tile = ({ label, value, note, tone = 'neutral' }: TileProps) => (
  <div>
    <dt>{label}</dt>
    <dd class={`tile-value ${tone}`}>{value}</dd>
    {note !== undefined && <dd class="note">{note}</dd>}
  </div>
)
