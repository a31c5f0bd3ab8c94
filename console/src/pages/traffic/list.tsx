import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { get } from '../../api/request.ts'
import type { AllOf, Channel, Model, PageOf, Request } from '../../api/types.ts'
import { useLoad } from '../../api/use-load.ts'
import { loadKeys } from '../../catalogue/load-keys.ts'
import { number } from '../../format.ts'
import { hrefOf } from '../../href.ts'
import { Button } from '../../ui/button.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { Pager } from '../../ui/pager.tsx'
import { Empty, Loading, Problem } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { toastProblem } from '../../ui/toast.tsx'
import { addressOf } from './address.ts'
import { Capturing } from './capturing.tsx'
import { columnsOf } from './columns.tsx'
import { FailureGroups } from './failure-groups.tsx'
import { FilterBar } from './filter-bar.tsx'
import { useLive } from './live.ts'
import { LiveButton } from './live-button.tsx'
import { afterGap, EMPTY, isGap, merged, newestOf, nextOf } from './merged.ts'
import { isRunning } from './row.ts'
import { type Filters, filtersOf, fits, isFound, queryOf } from './rows.ts'
import { text } from './texts.ts'
import { Legend, scaleOf } from './waterfall.tsx'

const PAGE = 100
/**
 * Interval between two loads of the list, in milliseconds. Without a shared bus, live rows come from one instance only.
 */
const AGAIN = 20_000
/** Maximum time until a request that ended before the live connection opened is stored, in milliseconds. */
const STORED = 1500

/** List of recent requests, updated live. */
export function TrafficList() {
  const { query, route } = useLocation()
  const filters = filtersOf(query)
  const inputs = Object.values(filters)
  const latest = useRef('')
  latest.current = inputs.join()
  const [search, setSearch] = useState(query['q'] ?? '')
  const [isLive, setLive] = useState(true)
  const [list, setList] = useState(EMPTY)
  const { rows } = list
  /** Position of the next page. Null if there is none. */
  const [cursor, setCursor] = useState<string | null>()
  const page = useLoad(
    signal => get<PageOf<Request>>('/requests', { ...queryOf(filters), limit: PAGE }, signal),
    inputs,
    isLive ? { every: AGAIN } : {},
  )
  const keys = useLoad(loadKeys)
  const models = useLoad(signal => get<AllOf<Model>>('/models', {}, signal))
  const channels = useLoad(signal => get<AllOf<Channel>>('/channels', {}, signal))
  const live = useLive(isLive, came =>
    setList(before =>
      merged(
        before,
        came.filter(row => fits(row, filters)),
      ),
    ),
  )
  const known = useRef(rows)
  known.current = rows
  /** Time of the newest request that was known when live updates stopped. */
  const seen = useRef<string>(undefined)

  // Reload once after connecting: requests that ended just before are not sent live and not stored yet.
  useEffect(() => {
    if (live.state !== 'on') return
    const timer = setTimeout(() => void page.reload(), STORED)
    return () => {
      clearTimeout(timer)
      seen.current ??= newestOf(known.current)
    }
  }, [live.state])

  // Changed filters empty the list.
  useEffect(() => {
    setList(EMPTY)
    setCursor(undefined)
    seen.current = undefined
  }, inputs)
  useEffect(() => {
    const { data } = page
    if (data === undefined) return
    const hasGap = isGap(data, seen.current)
    seen.current = live.state === 'on' ? undefined : newestOf(data.data)
    setList(before =>
      merged(
        hasGap ? afterGap(before, data.data.at(-1)!.at) : before,
        data.data.filter(row => fits(row, { ...filters, since: '', until: '' })),
      ),
    )
    setCursor(before => (before === undefined || hasGap ? (data.next_cursor ?? null) : before))
  }, [page.data])

  const named = useNamed(search)
  const shown = useMemo(() => {
    const found = rows.filter(row => isFound(row, search))
    return found.length === 0 && named !== undefined ? [named] : found
  }, [rows, search, named])
  const over = shown.filter((row): row is Request => !isRunning(row))
  const change = (next: Partial<Filters>): void => {
    const all = Object.entries({ ...filters, ...next }).filter(([, value]) => value !== '')
    const text = new URLSearchParams(all).toString()
    route(`${hrefOf('/traffic')}${text === '' ? '' : `?${text}`}`, true)
  }
  const more = async (): Promise<void> => {
    const query = { ...queryOf(filters), limit: PAGE, ...nextOf(list, cursor ?? undefined) }
    const next = await get<PageOf<Request>>('/requests', query)
    // Other filters may have been chosen meanwhile.
    if (latest.current !== inputs.join()) return
    setList(before => merged({ ...before, isCut: false }, next.data, before.rows.length + next.data.length))
    setCursor(next.next_cursor ?? null)
  }
  const words = text()
  return (
    <Page
      title={words.title}
      lead={words.lead}
      actions={<LiveButton isOn={isLive} state={live.state} onToggle={() => setLive(!isLive)} />}
    >
      <Capturing keys={keys} />
      <FilterBar
        {...{ filters, search }}
        onChange={change}
        onSearch={setSearch}
        keys={keys.data ?? []}
        models={models.data?.data ?? []}
        channels={channels.data?.data ?? []}
      />
      {filters.only === 'errors' && <FailureGroups query={queryOf(filters)} isLive={isLive} />}
      <Card flush>
        {page.error && <Problem error={page.error} onRetry={page.reload} />}
        {shown.length > 0 ? (
          <>
            <div class="traffic-head">
              <Legend failed={over.some(row => row.tries !== undefined)} />
              {live.missed > 0 && <span class="faint">{words.missed(live.missed)}</span>}
            </div>
            <div class="traffic-table">
              <Table
                label={words.title}
                columns={columnsOf({ scale: scaleOf(over), hrefOf: row => addressOf(row.id) })}
                rows={shown}
                rowId={row => row.id}
                onOpen={row => route(addressOf(row.id))}
                cards
              />
            </div>
          </>
        ) : page.data === undefined && page.error === undefined ? (
          <Loading lines={8} />
        ) : (
          page.error === undefined && (
            <Nothing
              isFirst={inputs.every(value => value === '') && search === ''}
              onStart={() => route(hrefOf('/start'))}
            />
          )
        )}
        <Pager
          more={typeof cursor === 'string'}
          onMore={() => more().catch(toastProblem)}
          {...(search !== '' && typeof cursor === 'string' && { note: words.searched(number(rows.length)) })}
        />
      </Card>
    </Page>
  )
}

/** Id of a request, as its answer carried it. */
const REQUEST_ID = /^req_[0-9a-f]{32}$/

/** Hook that loads the request whose id is searched, which may be older than the loaded rows. */
function useNamed(search: string): Request | undefined {
  const id = search.trim()
  const isId = REQUEST_ID.test(id)
  const { data } = useLoad(
    async signal => (isId ? await get<Request>(`/requests/${id}`, {}, signal) : undefined),
    [isId ? id : ''],
  )
  return data?.id === id ? data : undefined
}

const Nothing = ({ isFirst, onStart }: { readonly isFirst: boolean; readonly onStart: () => void }) => (
  <Empty
    icon={isFirst ? 'traffic' : 'search'}
    title={isFirst ? text().empty : text().nothing}
    action={isFirst && <Button onClick={onStart}>{text().toStart}</Button>}
  >
    {isFirst ? text().emptyText : text().nothingText}
  </Empty>
)
