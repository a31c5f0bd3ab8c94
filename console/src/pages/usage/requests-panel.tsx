import { useEffect, useState } from 'preact/hooks'
import { get } from '../../api/request.ts'
import type { PageOf, Request } from '../../api/types.ts'
import { useLoad } from '../../api/use-load.ts'
import { Estimable } from '../../catalogue/estimable.tsx'
import { failureName } from '../../catalogue/failure.tsx'
import { toneOf } from '../../catalogue/status-tone.ts'
import { money, number } from '../../format.ts'
import { hrefOf } from '../../href.ts'
import { Badge } from '../../ui/badge.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Pager } from '../../ui/pager.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { toastProblem } from '../../ui/toast.tsx'
import { When } from '../../ui/when.tsx'
import type { Where } from './fields.ts'
import { pathOf, spanOf } from './load.ts'
import { timed } from './metrics.ts'
import type { Span } from './ranges.ts'
import { text } from './texts.ts'

interface RequestsPanelProps {
  readonly title: string
  readonly span: Span
  readonly where: Where
  /** Whether to list only failed requests. */
  readonly errors: boolean
  readonly onClose: () => void
}

const PAGE = 50

/** Side panel with the requests of a time span and a group, linked to their pages. */
export function RequestsPanel({ title, span, where, errors, onClose }: RequestsPanelProps) {
  const words = text()
  const [more, setMore] = useState<PageOf<Request>>()
  const only = errors ? { only: 'errors' } : {}
  const load = (cursor: string | undefined, signal?: AbortSignal) => {
    const query = { ...spanOf(span), limit: PAGE, ...only, ...(cursor === undefined ? {} : { cursor }) }
    return get<PageOf<Request>>(pathOf('/requests', query, where), undefined, signal)
  }
  const inputs = [span.since, span.until, JSON.stringify(where), errors]
  const first = useLoad(signal => load(undefined, signal), inputs)
  useEffect(() => setMore(undefined), inputs)
  return (
    <Dialog title={title} place="side" wide onClose={onClose}>
      <Loaded of={first}>
        {page => {
          const rows = [...page.data, ...(more?.data ?? [])]
          const cursor = (more ?? page).next_cursor
          const next = async (): Promise<void> => {
            const { data, next_cursor } = await load(cursor)
            setMore({ data: [...(more?.data ?? []), ...data], ...(next_cursor === undefined ? {} : { next_cursor }) })
          }
          if (rows.length === 0) return <Empty title={words.noRequests}>{words.noRequestsText}</Empty>
          return (
            <div class="requests">
              <Table label={title} columns={columns()} rows={rows} rowId={row => row.id} cards />
              <Pager more={cursor !== undefined} onMore={() => next().catch(toastProblem)} />
            </div>
          )
        }}
      </Loaded>
    </Dialog>
  )
}

const tokensOf = ({ input_tokens: input, output_tokens: output }: Request): number | undefined =>
  input === undefined && output === undefined ? undefined : (input ?? 0) + (output ?? 0)

function columns(): readonly Column<Request>[] {
  const words = text()
  return [
    {
      ...{ id: 'at', title: words.time },
      cell: row => (
        <a href={`${hrefOf('/traffic')}?request=${encodeURIComponent(row.id)}`} title={words.inTraffic}>
          <When at={row.at} />
        </a>
      ),
    },
    {
      ...{ id: 'status', title: words.status },
      cell: row => (
        <Badge tone={toneOf(row)} title={row.failure === undefined ? row.error : failureName(row.failure)}>
          {row.status}
        </Badge>
      ),
    },
    { id: 'model', title: words.fields.model, cell: row => row.model ?? words.none },
    { id: 'channel', title: words.fields.channel, wide: true, cell: row => row.channel ?? words.none },
    { id: 'key', title: words.key, cell: row => row.key_name ?? row.key ?? words.none },
    {
      ...{ id: 'tokens', title: words.tokens, number: true },
      cell: row => {
        const tokens = tokensOf(row)
        return tokens === undefined ? '–' : <Estimable of={row} title={words.isEstimated} text={number(tokens)} />
      },
    },
    {
      ...{ id: 'cost', title: words.cost, number: true },
      cell: row => <Estimable of={row} title={words.isEstimated} text={money(row.cost)} />,
    },
    { id: 'took', title: words.took, number: true, cell: row => timed(row.duration_ms) },
  ]
}
