import type { ComponentChildren } from 'preact'

interface BarRowProps {
  readonly label: ComponentChildren
  /** The row's value, formatted. */
  readonly value: ComponentChildren
  /** Length of the bar, from 0 to 1. */
  readonly share: number
  /** Second bar behind the first, from 0 to 1. */
  readonly behind?: number
  readonly note?: ComponentChildren
}

/** List of rows that are compared by the length of their bars. */
export const BarList = ({ children }: { readonly children: ComponentChildren }) => <ul class="bar-list">{children}</ul>

/** One row of a `BarList`. The bar repeats the value, so that screen readers skip it. */
export const BarRow = ({ label, value, share, behind, note }: BarRowProps) => (
  <li>
    <span class="bar-list-label">{label}</span>
    <span class="bar-list-value">{value}</span>
    <span class="bar-list-track" aria-hidden="true">
      {behind !== undefined && <i class="behind" style={{ width: percentOf(behind) }} />}
      <i style={{ width: percentOf(share) }} />
    </span>
    {note !== undefined && <span class="note">{note}</span>}
  </li>
)

const percentOf = (share: number): string => `${Math.min(100, Math.max(0, share * 100)).toFixed(1)}%`
