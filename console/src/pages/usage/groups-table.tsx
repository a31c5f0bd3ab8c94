import type { UsageSum } from '../../api/types.ts'
import { costText } from '../../catalogue/cost.ts'
import { number, percent } from '../../format.ts'
import { IconButton } from '../../ui/button.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { timeOf } from './chart-card.tsx'
import { type Field, nameOf, valueIn } from './fields.ts'
import { MEASURES, timed } from './metrics.ts'
import type { Every } from './ranges.ts'
import { text } from './texts.ts'
import type { Metric, Percentile } from './view.ts'

interface GroupsTableProps {
  readonly sums: readonly UsageSum[]
  readonly by: Field | ''
  readonly every: Every
  readonly metric: Metric
  readonly percentile: Percentile
  readonly sort: string
  /** Chart colours of the groups, by value. */
  readonly colours: ReadonlyMap<string, string>
  readonly onSort: (order: string) => void
  readonly onOpen: (sum: UsageSum) => void
  readonly onOnly: (value: string) => void
}

/** Table of the groups, or of the intervals without grouping. */
export function GroupsTable(props: GroupsTableProps) {
  const { sums, by, metric, sort, onSort, onOpen } = props
  const usual = by === '' ? '-name' : MEASURES[metric].adds ? `-${COLUMN_OF[metric] ?? 'requests'}` : '-requests'
  return (
    <Table
      key={`${by} ${usual}`}
      label={by === '' ? text().times : text().groups(text().fields[by])}
      columns={columnsOf(props)}
      rows={sums}
      rowId={sum => (by === '' ? (sum.at ?? '') : valueIn(sum, by))}
      onOpen={onOpen}
      sorted={sort || usual}
      onSorted={onSort}
      cards
    />
  )
}

const COLUMN_OF: { readonly [M in Metric]?: string } = {
  ...{ requests: 'requests', tokens: 'input', cost: 'cost', errors: 'errors' },
}

/** Known cost, with marks for unknown and estimated parts. */
function Cost({ sum }: { readonly sum: UsageSum }) {
  const doubts = [
    sum.unpriced > 0 ? text().and(costText({ ...sum, unpriced: 0 }), number(sum.unpriced)) : '',
    sum.estimated > 0 ? text().estimated(number(sum.estimated)) : '',
  ].filter(Boolean)
  if (doubts.length === 0) return <>{costText(sum)}</>
  return (
    <span title={doubts.join(' · ')}>
      <span aria-hidden="true">{costText(sum)}</span>
      <span class="unseen">{doubts.join(' · ')}</span>
    </span>
  )
}

const Errors = ({ sum }: { readonly sum: UsageSum }) =>
  sum.errors === 0 ? (
    <span class="faint">0</span>
  ) : (
    <span>
      {number(sum.errors)} <span class="faint">{percent(sum.errors / sum.requests)}</span>
    </span>
  )

/** Median and 95th percentile. */
const Timing = ({ of }: { readonly of: UsageSum['duration_ms'] }) =>
  of === undefined ? (
    <span class="faint">–</span>
  ) : (
    <span>
      {timed(of.p50)} <span class="faint">{timed(of.p95)}</span>
    </span>
  )

function columnsOf(props: GroupsTableProps): readonly Column<UsageSum>[] {
  const { sums, by, every, metric, percentile, colours, onOpen, onOnly } = props
  const words = text()
  const measure = MEASURES[metric]
  const valued = (sum: UsageSum): number => measure.value(sum, percentile) ?? 0
  const whole = measure.adds
    ? sums.reduce((all, sum) => all + valued(sum), 0)
    : sums.reduce((most, sum) => Math.max(most, valued(sum)), 0)
  const figure = (
    id: string,
    title: string,
    value: (sum: UsageSum) => number | undefined,
    more: Partial<Column<UsageSum>> = {},
  ) => ({
    ...{ id, title, number: true, sort: value },
    cell: (sum: UsageSum) => number(value(sum) ?? 0, { short: (value(sum) ?? 0) >= 1e5 }),
    ...more,
  })
  const timing = (id: 'first_byte' | 'duration', of: (sum: UsageSum) => UsageSum['duration_ms']) =>
    figure(id, `${words.metrics[id]} ${words.medianAnd}`, sum => of(sum)?.p50, { cell: sum => <Timing of={of(sum)} /> })
  const name = (sum: UsageSum): string => (by === '' ? timeOf(Date.parse(sum.at ?? ''), every) : nameOf(sum, by))
  return [
    {
      id: 'name',
      title: by === '' ? words.time : words.fields[by],
      sort: sum => (by === '' ? sum.at : name(sum)),
      cell: sum => (
        <span class="group-name">
          {by !== '' && (
            <span class="swatch" style={{ background: `var(${colours.get(valueIn(sum, by)) ?? '--chart-others'})` }} />
          )}
          <button type="button" class="opener cut" onClick={() => onOpen(sum)}>
            {name(sum)}
          </button>
        </span>
      ),
    },
    {
      ...{ id: 'share', title: words.share, sort: valued },
      cell: sum => <Share of={whole === 0 ? 0 : valued(sum) / whole} figure={measure.adds} />,
    },
    figure('requests', words.requests, sum => sum.requests),
    figure('errors', words.errors, sum => sum.errors, { cell: sum => <Errors sum={sum} /> }),
    figure('input', words.input, sum => sum.input_tokens),
    figure('cached', words.cached, sum => sum.cache_read_tokens, { wide: true }),
    figure('output', words.output, sum => sum.output_tokens),
    figure('cost', words.cost, sum => (sum.cost === 0 && sum.unpriced > 0 ? undefined : sum.cost), {
      cell: sum => <Cost sum={sum} />,
    }),
    timing('first_byte', sum => sum.first_byte_ms),
    timing('duration', sum => sum.duration_ms),
    ...(by === ''
      ? []
      : [
          {
            ...{ id: 'only', title: words.filter, untitled: true },
            cell: (sum: UsageSum) => (
              <IconButton icon="search" small label={words.only(name(sum))} onClick={() => onOnly(valueIn(sum, by))} />
            ),
          },
        ]),
  ]
}

/** Share of the total as a bar, optionally with the percentage. */
const Share = ({ of, figure }: { readonly of: number; readonly figure: boolean }) => (
  <span class="share">
    <span class="track" aria-hidden="true">
      <span style={{ width: `${Math.max(of > 0 ? 1 : 0, of * 100)}%` }} />
    </span>
    {figure && <span class="number">{percent(of)}</span>}
  </span>
)
