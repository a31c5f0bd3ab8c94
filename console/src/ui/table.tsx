import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { Icon } from './icon.tsx'
import { useWindow } from './window.ts'

/** One column of a table. */
export interface Column<T> {
  readonly id: string
  readonly title: string
  readonly cell: (row: T) => ComponentChildren
  /** Shown after the title, hidden from screen readers: the scale of the column's bars. */
  readonly scale?: ComponentChildren
  /** Sort key of a row. A column without it cannot be sorted. */
  readonly sort?: (row: T) => string | number | undefined
  /** Aligns numbers to the right. */
  readonly number?: boolean
  /** Hides the title from all but screen readers. */
  readonly untitled?: boolean
  /** Hides the column on narrow screens. */
  readonly wide?: boolean
}

interface TableProps<T> {
  /** Name of the table for screen readers. */
  readonly label: string
  readonly columns: readonly Column<T>[]
  readonly rows: readonly T[]
  readonly rowId: (row: T) => string
  /** Called for a click on a row. One cell must hold a link or button that does the same for keyboard users. */
  readonly onOpen?: (row: T) => void
  readonly isFaint?: (row: T) => boolean
  /** Initial order: the id of a column, with `-` before it for descending. */
  readonly sorted?: string
  /** Called with the new order, written as in `sorted`. */
  readonly onSorted?: (order: string) => void
  /** Shows each row as a card on narrow screens, with the column titles before the values. */
  readonly cards?: boolean
}

/** A sortable table. Of more than 200 rows, only those in view are in the document. */
export function Table<T>({
  label,
  columns,
  rows,
  rowId,
  onOpen,
  isFaint,
  sorted = '',
  onSorted,
  cards,
}: TableProps<T>) {
  const [order, setOrder] = useState(sorted)
  const sortBy = (id: string): void => {
    const next = id === by && !isDown ? `-${id}` : id
    setOrder(next)
    onSorted?.(next)
  }
  const [by, isDown] = order.startsWith('-') ? [order.slice(1), true] : [order, false]
  const sort = columns.find(one => one.id === by)?.sort
  // Memoized because scrolling renders the table often.
  const inOrder = useMemo(() => sortedBy(rows, sort, isDown), [rows, columns, order])
  const { scroller, from, to, before, after } = useWindow(inOrder.length)
  return (
    // A scrolling element must be reachable by keyboard.
    <section class={cards ? 'table cards' : 'table'} ref={scroller} tabIndex={0} aria-label={label}>
      {/* CSS turns rows into cards on narrow screens; explicit roles keep the table semantics. */}
      <table role="table" aria-rowcount={rows.length + 1}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(column => (
              <Head
                key={column.id}
                column={column}
                direction={column.id === by ? (isDown ? 'descending' : 'ascending') : undefined}
                onSort={() => sortBy(column.id)}
              />
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {before > 0 && <Spacer height={before} columns={columns.length} />}
          {inOrder.slice(from, to).map((row, index) => (
            <tr
              key={rowId(row)}
              role="row"
              aria-rowindex={from + index + 2}
              class={[isFaint?.(row) ? 'gone' : '', onOpen ? 'opens' : ''].filter(Boolean).join(' ') || undefined}
              onClick={onOpen && (event => !isControl(event.target) && onOpen(row))}
            >
              {columns.map(column => (
                <td
                  key={column.id}
                  role="cell"
                  class={classOf(column)}
                  data-title={column.untitled ? '' : column.title}
                >
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
          {after > 0 && <Spacer height={after} columns={columns.length} />}
        </tbody>
      </table>
    </section>
  )
}

interface HeadProps<T> {
  readonly column: Column<T>
  readonly direction: 'ascending' | 'descending' | undefined
  readonly onSort: () => void
}

const Head = <T,>({ column, direction, onSort }: HeadProps<T>) => (
  <th role="columnheader" scope="col" class={classOf(column)} aria-sort={direction}>
    {column.sort === undefined ? (
      <>
        <span class={column.untitled ? 'unseen' : undefined}>{column.title}</span>
        {column.scale}
      </>
    ) : (
      <button type="button" onClick={onSort}>
        {column.title}
        {direction && <Icon name={direction === 'ascending' ? 'up' : 'down'} size={14} />}
      </button>
    )}
  </th>
)

const Spacer = ({ height, columns }: { readonly height: number; readonly columns: number }) => (
  <tr aria-hidden="true">
    <td colSpan={columns} class="spacer" style={{ height: `${height}px` }} />
  </tr>
)

const classOf = <T,>({ number, wide }: Column<T>): string | undefined =>
  [number ? 'number' : '', wide ? 'wide' : ''].filter(Boolean).join(' ') || undefined

/** Whether a click hit a control in the row, which must not also open the row. */
const isControl = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('a, button, input, select, label, [role=menu]') !== null

/** Sorts `m-2` before `m-10`. */
const NATURAL = new Intl.Collator(undefined, { numeric: true })

function sortedBy<T>(rows: readonly T[], value: Column<T>['sort'], isDown: boolean): readonly T[] {
  if (value === undefined) return rows
  const all = rows.map(row => ({ row, value: value(row) }))
  // Rows without a value come last in both directions.
  all.sort((one, other) => {
    if (one.value === undefined || other.value === undefined)
      return Number(one.value === undefined) - Number(other.value === undefined)
    const order =
      typeof one.value === 'number' && typeof other.value === 'number'
        ? one.value - other.value
        : NATURAL.compare(String(one.value), String(other.value))
    return isDown ? -order : order
  })
  return all.map(({ row }) => row)
}
