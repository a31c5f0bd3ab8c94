import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { Icon } from './icon.tsx'
import { useWindow } from './window.ts'

export interface Column<T> {
  readonly id: string
  readonly title: string
  readonly cell: (row: T) => ComponentChildren
  /** What it is sorted by; without it, it is not sortable. */
  readonly sort?: (row: T) => string | number | undefined
  /** Figures, at the right. */
  readonly number?: boolean
  /** The title is read by screen readers alone. */
  readonly untitled?: boolean
  /** Left out where there is little room. */
  readonly wide?: boolean
}

interface TableProps<T> {
  /** What the rows are, for screen readers. */
  readonly label: string
  readonly columns: readonly Column<T>[]
  readonly rows: readonly T[]
  readonly rowId: (row: T) => string
  /** A row can be opened; a cell then holds a link or button that does the same for keyboards. */
  readonly onOpen?: (row: T) => void
  readonly isFaint?: (row: T) => boolean
  /** How it is sorted at first: the id of a column, with `-` before it from the highest. */
  readonly sorted?: string
  /** It was sorted otherwise: the id of a column, as in `sorted`. */
  readonly onSorted?: (order: string) => void
  /** On narrow screens a card for each row, with the titles before the values. */
  readonly cards?: boolean
}

/** Rows, sortable by their columns. Of more than 200 only those in view are in the document. */
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
  // Scrolling draws the table anew, again and again.
  const inOrder = useMemo(() => sortedBy(rows, sort, isDown), [rows, columns, order])
  const { scroller, from, to, before, after } = useWindow(inOrder.length)
  return (
    // What scrolls must be reached by keyboard.
    <section class={cards ? 'table cards' : 'table'} ref={scroller} tabIndex={0} aria-label={label}>
      {/* The roles stay where narrow screens have cards. */}
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
      <span class={column.untitled ? 'unseen' : undefined}>{column.title}</span>
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

/** A click on what is a control of its own does not open the row. */
const isControl = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('a, button, input, select, label, [role=menu]') !== null

/** `m-2` before `m-10`. */
const NATURAL = new Intl.Collator(undefined, { numeric: true })

function sortedBy<T>(rows: readonly T[], value: Column<T>['sort'], isDown: boolean): readonly T[] {
  if (value === undefined) return rows
  const all = rows.map(row => ({ row, value: value(row) }))
  // What has no value comes last, whichever way the others are.
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
