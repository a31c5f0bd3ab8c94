import './audit.css'
import { useState } from 'preact/hooks'
import { get, send } from '../../api/request.ts'
import type { AuditEntry, PageOf } from '../../api/types.ts'
import { useLoad } from '../../api/use-load.ts'
import { number } from '../../format.ts'
import { isAdmin } from '../../session-state.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Select } from '../../ui/field.tsx'
import { Bar, Card, Page } from '../../ui/page.tsx'
import { Pager } from '../../ui/pager.tsx'
import { saveText } from '../../ui/save-text.ts'
import { matches, SearchBox } from '../../ui/search-box.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { toastProblem } from '../../ui/toast.tsx'
import { When } from '../../ui/when.tsx'
import { useQuery } from '../../use-query.ts'
import { text } from './texts.ts'

const PAGE = 100
/** Maximum number of entries in a download. */
const MOST = 1000
/** Start of the list. Without it, the API returns the last 30 days only. */
const SINCE = '1970-01-01T00:00:00Z'

type Kind = AuditEntry['kind']

/** Returns the kinds of things that are audited. Each of them has a text. */
const kindsOf = ({ kinds }: ReturnType<typeof text>): readonly Kind[] => Object.keys(kinds) as Kind[]

/** Audit log: who changed what, with the values before and after. */
export default function AuditLog() {
  const words = text()
  return (
    <Page title={words.title} lead={words.lead}>
      {isAdmin.value ? <Changes /> : <Empty title={words.admins} />}
    </Page>
  )
}

function Changes() {
  const words = text()
  const [query, change] = useQuery()
  const [search, setSearch] = useState(query['q'] ?? '')
  const [loaded, setLoaded] = useState<{ readonly of: string; readonly page: PageOf<AuditEntry> }>()
  const kind = kindsOf(words).find(one => one === query['kind'])
  const filter = { since: SINCE, kind, target: query['target'] }
  const of = JSON.stringify(filter)
  // Further pages of another filter may arrive late.
  const more = loaded?.of === of ? loaded.page : undefined
  const load = (cursor?: string, signal?: AbortSignal) =>
    get<PageOf<AuditEntry>>('/audit', { ...filter, limit: PAGE, cursor }, signal)
  const first = useLoad(signal => load(undefined, signal), [of])
  const save = async (): Promise<void> => {
    const given = Object.entries({ ...filter, limit: String(MOST) }).filter(([, value]) => value !== undefined)
    const path = `/audit?${new URLSearchParams(given as [string, string][])}`
    const answer = await send('GET', path, { headers: { accept: 'text/csv' } })
    saveText([await answer.text()], `audit-${new Date().toISOString().slice(0, 10)}.csv`)
  }
  return (
    <>
      <Bar>
        <SearchBox value={search} onValue={setSearch} label={words.search} />
        <Select
          label={words.kind}
          hideLabel
          value={kind ?? ''}
          onValue={next => change({ kind: next, target: '' })}
          options={[
            { value: '', label: words.anyKind },
            ...kindsOf(words).map(one => ({ value: one, label: words.kinds[one] })),
          ]}
        />
        <Button icon="download" title={words.csvHint} onClick={() => save().catch(toastProblem)}>
          {words.csv}
        </Button>
      </Bar>
      <Card flush>
        <Loaded of={first}>
          {page => {
            const all = [...page.data, ...(more?.data ?? [])]
            const shown = all.filter(one =>
              matches(search, one.actor, one.name, one.action, JSON.stringify(one.changes)),
            )
            const cursor = (more ?? page).next_cursor
            const next = async (): Promise<void> => {
              const { data, next_cursor } = await load(cursor)
              const all = [...(more?.data ?? []), ...data]
              setLoaded({ of, page: { data: all, ...(next_cursor === undefined ? {} : { next_cursor }) } })
            }
            return (
              <>
                {shown.length === 0 ? (
                  <Empty icon="audit" title={all.length === 0 ? words.empty : words.nothing}>
                    {all.length === 0 && words.emptyText}
                  </Empty>
                ) : (
                  <div class="audit-table">
                    <Table label={words.title} columns={columns()} rows={shown} rowId={row => row.id} cards />
                  </div>
                )}
                <Pager
                  more={cursor !== undefined}
                  onMore={() => next().catch(toastProblem)}
                  {...(search.trim() !== '' && cursor !== undefined && { note: words.searched(number(all.length)) })}
                />
              </>
            )
          }}
        </Loaded>
      </Card>
    </>
  )
}

function columns(): readonly Column<AuditEntry>[] {
  const words = text()
  return [
    { id: 'at', title: words.columns.time, cell: ({ at }) => <When at={at} /> },
    {
      ...{ id: 'who', title: words.columns.who },
      cell: ({ actor, actor_kind }) => (
        <span class="two-lines">
          <strong class="said">{actor}</strong>
          <span class="note">{words.actors[actor_kind]}</span>
        </span>
      ),
    },
    {
      ...{ id: 'what', title: words.columns.what },
      cell: ({ kind, name }) => (
        <span class="two-lines">
          <span class="said">{name}</span>
          <span class="note">{words.kinds[kind]}</span>
        </span>
      ),
    },
    {
      ...{ id: 'action', title: words.columns.action },
      cell: ({ action }) => <Badge>{Object.hasOwn(words.actions, action) ? words.actions[action] : action}</Badge>,
    },
    { id: 'changes', title: words.columns.changes, cell: ({ changes }) => <FieldChanges of={changes} /> },
  ]
}

const FieldChanges = ({ of }: { readonly of: AuditEntry['changes'] }) =>
  of.length === 0 ? (
    <span class="faint">{text().none}</span>
  ) : (
    <ul class="audit-changes">
      {of.map(({ field, from, to }) => (
        <li key={field}>
          <code>{field}</code> <Value of={from} /> <span aria-hidden="true">→</span>
          <span class="unseen">{text().to}</span> <Value of={to} />
        </li>
      ))}
    </ul>
  )

const Value = ({ of }: { readonly of: unknown }) =>
  of === undefined || of === null ? (
    <span class="faint">{text().unset}</span>
  ) : (
    <span class="said">{typeof of === 'string' ? of : JSON.stringify(of)}</span>
  )
