import { SpendBar, type Spending } from '../../catalogue/spend-bar.tsx'
import { money } from '../../format.ts'
import { text } from './texts.ts'

/** Budgets with their spend in the current day and month. */
export interface Budgets {
  readonly day?: Spending | undefined
  readonly month?: Spending | undefined
}

const PERIODS = ['day', 'month'] as const

/** Used and remaining part of each budget, as a bar with its amounts. */
export const BudgetBars = ({ of }: { readonly of: Budgets }) => (
  <>
    {PERIODS.map(period => {
      const budget = of[period]
      return (
        budget && (
          <span key={period} class="budget">
            <span class="note">
              {text().budget[period](money(budget.spent), money(Math.max(0, budget.limit - budget.spent)))}
            </span>
            <SpendBar of={budget} label={text().budget.label[period]} />
          </span>
        )
      )
    })}
  </>
)

/** Adds up the budgets of a group's keys. */
export function summed(all: readonly Budgets[]): Budgets {
  const sum = (period: 'day' | 'month'): Spending | undefined => {
    const some = all.flatMap(one => one[period] ?? [])
    const total = (name: keyof Spending): number => some.reduce((sum, one) => sum + one[name], 0)
    return some.length === 0 ? undefined : { limit: total('limit'), spent: total('spent') }
  }
  return { day: sum('day'), month: sum('month') }
}
