import type { UsageSum } from '../../api/types.ts'
import { type Field, nameOf, valueIn } from './fields.ts'

/** Known cost of some requests, and the numbers of requests with an unknown or estimated cost. */
export interface PivotCosts {
  cost: number
  unpriced: number
  estimated: number
}

/** Costs by two fields. Rows and columns are ordered by cost, the highest first. */
export interface Pivot {
  readonly rowField: Field
  readonly columns: readonly { readonly id: string; readonly name: string; readonly total: PivotCosts }[]
  readonly rows: readonly {
    readonly id: string
    readonly name: string
    readonly cells: ReadonlyMap<string, PivotCosts>
    readonly total: PivotCosts
  }[]
  /** Sum of everything. */
  readonly columnTotals: PivotCosts
}

const none = (): PivotCosts => ({ cost: 0, unpriced: 0, estimated: 0 })

function add(costs: PivotCosts, { cost, unpriced, estimated }: UsageSum): PivotCosts {
  costs.cost += cost
  costs.unpriced += unpriced
  costs.estimated += estimated
  return costs
}

/** Arranges sums by two fields as a table. */
export function pivotOf(sums: readonly UsageSum[], rowField: Field, columnField: Field): Pivot {
  const rows = new Map<string, { id: string; name: string; cells: Map<string, PivotCosts>; total: PivotCosts }>()
  const columns = new Map<string, { id: string; name: string; total: PivotCosts }>()
  const columnTotals = none()
  for (const sum of sums) {
    const [id, columnId] = [valueIn(sum, rowField), valueIn(sum, columnField)]
    const row = rows.get(id) ?? { id, name: nameOf(sum, rowField), cells: new Map(), total: none() }
    const column = columns.get(columnId) ?? { id: columnId, name: nameOf(sum, columnField), total: none() }
    rows.set(id, row)
    columns.set(columnId, column)
    row.cells.set(columnId, add(row.cells.get(columnId) ?? none(), sum))
    for (const total of [row.total, column.total, columnTotals]) add(total, sum)
  }
  const byCost = (one: { total: PivotCosts }, other: { total: PivotCosts }): number => other.total.cost - one.total.cost
  return { rowField, columnTotals, columns: [...columns.values()].sort(byCost), rows: [...rows.values()].sort(byCost) }
}
