import { useState } from 'preact/hooks'
import { useLoad } from '../../api/use-load.ts'
import { type Costs, costText } from '../../catalogue/cost.ts'
import { number } from '../../format.ts'
import { Button } from '../../ui/button.tsx'
import { Select } from '../../ui/field.tsx'
import { Card } from '../../ui/page.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { FIELDS, type Field, type Where } from './fields.ts'
import { counted, loadPairs, MOST } from './load.ts'
import { savePivot } from './pivot-csv.ts'
import { type Pivot, pivotOf } from './pivot-data.ts'
import type { Range } from './ranges.ts'
import { text } from './texts.ts'

interface PivotCardProps {
  readonly range: Range
  readonly now: number
  readonly where: Where
}

/** Table of the cost by two fields, by default key and model, which can be swapped and downloaded. */
export function PivotCard({ range, now, where }: PivotCardProps) {
  const words = text().pivot
  const [[rows, columns], setFields] = useState<readonly [Field, Field]>(['key', 'model'])
  const pairs = useLoad(
    async signal => (await counted(range, one => loadPairs(one, [rows, columns], where, signal))).data,
    [range.since, range.until, now, rows, columns, JSON.stringify(where)],
  )
  const options = (other: Field) =>
    FIELDS.filter(field => field !== other).map(field => ({ value: field, label: text().fields[field] }))
  const pivot = pairs.data && pivotOf(pairs.data.sums, rows, columns)
  return (
    <Card
      flush
      title={words.title}
      actions={
        <>
          <Select
            label={words.rows}
            hideLabel
            value={rows}
            onValue={next => setFields([next, columns])}
            options={options(columns)}
          />
          <Button
            small
            icon="rotate"
            title={words.swap}
            aria-label={words.swap}
            onClick={() => setFields([columns, rows])}
          />
          <Select
            label={words.columns}
            hideLabel
            value={columns}
            onValue={next => setFields([rows, next])}
            options={options(rows)}
          />
          <Button small icon="download" disabled={pivot === undefined} onClick={() => pivot && savePivot(pivot, range)}>
            {text().csv}
          </Button>
        </>
      }
    >
      <Loaded of={pairs}>
        {() =>
          pivot!.rows.length === 0 ? (
            <Empty icon="usage" title={text().emptyTitle} />
          ) : (
            <PivotTable of={pivot!} isComplete={pairs.data!.complete} />
          )
        }
      </Loaded>
    </Card>
  )
}

/** Maximum number of columns shown. The download has all of them. */
const SHOWN = 8

interface PivotTableProps {
  readonly of: Pivot
  readonly isComplete: boolean
}

function PivotTable({ of: { rows, columns, rowField, columnTotals }, isComplete }: PivotTableProps) {
  const words = text().pivot
  const shown = columns.slice(0, SHOWN)
  const cell = (costs: Costs | undefined) =>
    costs === undefined ? <span class="faint">–</span> : <span title={noteOf(costs)}>{costText(costs)}</span>
  return (
    <>
      <div class="pivot">
        <Table
          label={words.title}
          columns={[
            {
              id: 'name',
              title: text().fields[rowField],
              sort: row => row.name,
              cell: row => <strong>{row.name}</strong>,
            },
            ...shown.map(({ id, name }) => ({
              ...{ id: `=${id}`, title: name, number: true },
              sort: (row: Pivot['rows'][number]) => row.cells.get(id)?.cost,
              cell: (row: Pivot['rows'][number]) => cell(row.cells.get(id)),
            })),
            {
              id: 'total',
              title: text().total,
              number: true,
              sort: row => row.total.cost,
              cell: row => cell(row.total),
            },
          ]}
          rows={rows}
          rowId={row => row.id}
          sorted="-total"
          cards
        />
      </div>
      <p class="note pivot-note">
        {columns.length > SHOWN && `${words.more(columns.length - SHOWN)} `}
        {words.totals}: {costText(columnTotals)}. {words.legend}
        {!isComplete && ` ${text().mostRequests(number(MOST))}`}
      </p>
    </>
  )
}

const noteOf = ({ unpriced, estimated = 0 }: Costs): string | undefined =>
  [unpriced > 0 ? text().unpriced(String(unpriced)) : '', estimated > 0 ? text().estimated(String(estimated)) : '']
    .filter(Boolean)
    .join(' · ') || undefined
