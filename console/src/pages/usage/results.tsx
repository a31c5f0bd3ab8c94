import { useState } from 'preact/hooks'
import { number } from '../../format.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/page.tsx'
import { Empty } from '../../ui/states.tsx'
import { toastProblem } from '../../ui/toast.tsx'
import { ChartCard, timeOf } from './chart-card.tsx'
import { chartDataOf, type Loaded } from './chart-data.ts'
import { saveCsv } from './csv.ts'
import { type Field, nameOf, valueIn } from './fields.ts'
import { GroupsTable } from './groups-table.tsx'
import { MOST, type Rows } from './load.ts'
import { PivotCard } from './pivot.tsx'
import { STEPS } from './ranges.ts'
import { RequestsPanel } from './requests-panel.tsx'
import { text } from './texts.ts'
import type { Change, View } from './view.ts'

interface ResultsProps {
  readonly view: View
  readonly change: Change
  readonly now: number
  readonly loaded: Loaded
  /** Totals of the groups. Undefined without grouping. */
  readonly groups: (Rows & { readonly by: Field }) | undefined
}

/** Chart and table, with the panel of requests behind a chosen point or group. */
export function Results({ view, change, now, loaded, groups }: ResultsProps) {
  const words = text()
  const { range, metric } = loaded
  const { where } = view
  const isFiltered = Object.keys(where).length > 0
  if (loaded.sums.length === 0)
    return (
      <Card>
        <Empty
          icon="usage"
          title={words.emptyTitle}
          action={isFiltered && <Button onClick={() => change({ where: {} })}>{words.clear}</Button>}
        >
          {isFiltered ? words.emptyFiltered : words.emptyText}
        </Empty>
      </Card>
    )
  const by = groups?.by ?? ''
  const sums = groups?.sums ?? loaded.sums
  const save = (over: boolean) => () =>
    saveCsv({ range, by, where, ...(over && { over: { groups: groups?.sums.length ?? 1 } }) }).catch(toastProblem)
  return (
    <>
      {view.range === '1h' && !range.exact && <p class="coarse">{words.coarse}</p>}
      <ChartCard loaded={loaded} view={view} change={change} now={now} onCsv={save(true)} />
      <Card
        flush
        title={by === '' ? words.times : words.groups(words.fields[by])}
        actions={
          <Button small icon="download" title={words.csvGroups} onClick={save(by === '')}>
            {words.csv}
          </Button>
        }
      >
        <div class="groups">
          <GroupsTable
            sums={sums}
            by={by}
            every={range.every}
            metric={metric}
            percentile={view.percentile}
            sort={view.sort}
            colours={coloursOf(loaded, view, now)}
            onSort={sort => change({ sort })}
            onOpen={sum =>
              change({ list: by === '' ? { ...(sum.at && { at: sum.at }) } : { group: valueIn(sum, by) } })
            }
            onOnly={value => by !== '' && change({ where: { ...where, [by]: value } })}
          />
        </div>
        {groups?.complete === false && <p class="note pivot-note">{words.mostRequests(number(MOST))}</p>}
      </Card>
      {metric === 'cost' && <PivotCard range={range} now={now} where={where} />}
      <Listed view={view} change={change} loaded={loaded} groups={groups} />
    </>
  )
}

/** Chart colours of the groups, by value. */
const coloursOf = (loaded: Loaded, { percentile }: View, now: number): ReadonlyMap<string, string> =>
  new Map(
    chartDataOf(loaded, percentile, now)
      .series.filter(({ id }) => id.startsWith('='))
      .map(({ id, colour }) => [id.slice(1), colour]),
  )

/** Panel with the requests of the chosen point or group. */
function Listed({ view, change, loaded, groups }: Omit<ResultsProps, 'now'>) {
  const words = text()
  const { range, metric } = loaded
  const { list, where } = view
  const by = groups?.by
  // A fixed time keeps the panel from reloading every minute.
  const [now] = useState(Date.now)
  if (list === undefined) return null
  const at = Date.parse(list.at ?? '')
  const isPoint = !Number.isNaN(at)
  const span = isPoint
    ? { since: at, until: at + STEPS[range.every] }
    : { since: range.since, until: Math.max(range.since + 1, Math.min(range.until, now)) }
  const group =
    by !== undefined && list.group !== undefined ? groups?.sums.find(sum => valueIn(sum, by) === list.group) : undefined
  const name = group !== undefined && by !== undefined ? nameOf(group, by) : (list.group ?? '')
  const what = [name, isPoint ? timeOf(at, range.every) : ''].filter(Boolean).join(', ')
  const errors = metric === 'errors'
  return (
    <RequestsPanel
      title={
        what === ''
          ? errors
            ? words.allErrors
            : words.allRequests
          : errors
            ? words.errorsOf(what)
            : words.requestsOf(what)
      }
      span={span}
      where={by === undefined || list.group === undefined ? where : { ...where, [by]: list.group }}
      errors={errors}
      onClose={() => change({ list: undefined })}
    />
  )
}
