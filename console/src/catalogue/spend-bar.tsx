import { money, percent } from '../format.ts'

/** A spend in US dollars and its limit. */
export interface Spending {
  readonly limit: number
  readonly spent: number
}

/** Shares of a budget from which on the colour changes, highest first. */
const LEVELS = [
  [1, 'bad'],
  [0.8, 'warn'],
] as const

/** Used share of a budget. A budget of nothing is used up. */
export const shareOf = ({ spent, limit }: Spending): number => (limit === 0 ? 1 : spent / limit)

interface SpendBarProps {
  readonly of: Spending
  /** Name for screen readers, such as the period. */
  readonly label: string
}

/** Bar with the used part of a budget. */
export function SpendBar({ of, label }: SpendBarProps) {
  const { spent, limit } = of
  const share = shareOf(of)
  const tone = LEVELS.find(([least]) => share >= least)?.[1] ?? ''
  const said = `${label}: ${money(spent)} / ${money(limit)} (${percent(share)})`
  return (
    <span class={`spend-bar ${tone}`} role="img" aria-label={said} title={said}>
      <span style={{ width: `${Math.min(100, share * 100)}%` }} />
    </span>
  )
}
