import { useCallback, useState } from 'preact/hooks'
import { remove } from '../../api/request.ts'
import type { Group, Key, PageOf, Settings } from '../../api/types.ts'
import type { Loaded as Load } from '../../api/use-load.ts'
import { number } from '../../format.ts'
import { hrefOf } from '../../href.ts'
import { useShortcut } from '../../keyboard.ts'
import { isAdmin } from '../../session-state.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Bar, Card } from '../../ui/page.tsx'
import { matches, SearchBox } from '../../ui/search-box.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { BudgetBars } from './budgets.tsx'
import { GroupForm } from './group-form.tsx'
import { LimitsCell } from './limits.tsx'
import type { KeysUsage } from './load.ts'
import { text } from './texts.ts'

interface GroupsViewProps {
  readonly groups: Load<readonly Group[]>
  /** The loaded keys. There may be more. */
  readonly keys: PageOf<Key> | undefined
  readonly usage: KeysUsage
  readonly settings: Settings | undefined
  /** Whether the form for a new group is open. A button of the page opens it. */
  readonly isCreating: boolean
  readonly onCreating: (isCreating: boolean) => void
}

type Open = { readonly kind: 'change' | 'remove'; readonly group: Group }

/** Tab with the list of groups. */
export function GroupsView({ groups, keys, usage, settings, isCreating, onCreating }: GroupsViewProps) {
  const [search, setSearch] = useState('')
  const [open, setOpen] = useState<Open>()
  const create = useCallback(() => isAdmin.value && onCreating(true), [onCreating])
  useShortcut('n', create, isAdmin.value ? text().groups.create : undefined)
  const close = (): void => {
    setOpen(undefined)
    onCreating(false)
  }
  const counts = Map.groupBy(keys?.data ?? [], key => key.group)
  const count = (name: string): KeyCount => ({
    known: counts.get(name)?.length ?? 0,
    isLeast: keys?.next_cursor !== undefined,
  })
  const shown = (all: readonly Group[]): readonly Group[] =>
    all.filter(group => matches(search, group.name, ...group.models))
  return (
    <>
      <Bar>
        <SearchBox value={search} onValue={setSearch} label={text().searchGroups} />
      </Bar>
      <Card flush>
        <Loaded of={groups}>
          {all =>
            shown(all).length > 0 ? (
              <Table
                label={text().tabs.groups}
                columns={columnsOf(count, usage, setOpen)}
                rows={shown(all)}
                rowId={group => group.name}
                cards
              />
            ) : (
              <Empty icon="search" title={text().empty.groups} />
            )
          }
        </Loaded>
      </Card>
      {(isCreating || open?.kind === 'change') && (
        <GroupForm
          {...(open === undefined ? {} : { of: open.group })}
          doors={settings?.doors ?? []}
          onKept={said => {
            toast(said)
            close()
            void groups.reload()
          }}
          onClose={close}
        />
      )}
      {open?.kind === 'remove' && (
        <Confirm
          title={text().groups.remove(open.group.name)}
          action={text().groups.removeSubmit}
          danger
          onClose={close}
          onConfirm={async () => {
            await remove(`/groups/${encodeURIComponent(open.group.name)}`)
            toast(text().done.groupRemoved(open.group.name))
            void groups.reload()
          }}
        >
          <p>{text().groups.removeText}</p>
        </Confirm>
      )}
    </>
  )
}

/** Number of the keys of a group that are loaded, and whether it may have more. */
interface KeyCount {
  readonly known: number
  readonly isLeast: boolean
}

const countText = ({ known, isLeast }: KeyCount): string => `${number(known)}${isLeast ? '+' : ''}`

function columnsOf(
  count: (group: string) => KeyCount,
  { budgetsByGroup }: KeysUsage,
  onOpen: (open: Open) => void,
): readonly Column<Group>[] {
  const words = text().columns
  const names = (all: readonly string[] | undefined) =>
    all === undefined || (all.length === 1 && all[0] === '*') ? (
      <span class="faint">{text().groups.all}</span>
    ) : (
      <code>{all.join(', ')}</code>
    )
  const columns: Column<Group>[] = [
    {
      ...{ id: 'name', title: words.name, sort: group => group.name },
      cell: ({ name, source }) => (
        <span class="key-name">
          <strong>{name}</strong>
          {source === 'config' && <span class="note">{text().states.config}</span>}
        </span>
      ),
    },
    {
      ...{ id: 'keys', title: words.keys, sort: ({ name }) => count(name).known, number: true },
      cell: ({ name }) => (
        <a
          href={`${hrefOf('/keys')}?group=${encodeURIComponent(name)}`}
          aria-label={text().groups.keysOf(countText(count(name)), name)}
        >
          {countText(count(name))}
        </a>
      ),
    },
    {
      ...{ id: 'limits', title: words.limits },
      cell: group => (
        <>
          <LimitsCell of={group} none={text().limit.unlimited} />
          <BudgetBars of={budgetsByGroup.get(group.name) ?? {}} />
        </>
      ),
    },
    { id: 'models', title: words.models, cell: ({ models }) => names(models) },
    { id: 'doors', title: words.doors, wide: true, cell: ({ doors }) => names(doors) },
    { id: 'channels', title: words.channels, wide: true, cell: ({ channels }) => names(channels) },
  ]
  if (!isAdmin.value) return columns
  const actions: Column<Group> = {
    ...{ id: 'actions', title: words.name, untitled: true },
    cell: group =>
      group.source === 'store' && (
        <Menu
          label={text().actionsFor(group.name)}
          items={[
            { label: text().actions.change, icon: 'edit', onSelect: () => onOpen({ kind: 'change', group }) },
            {
              ...{ label: text().actions.remove, icon: 'trash', danger: true },
              onSelect: () => onOpen({ kind: 'remove', group }),
            },
          ]}
        />
      ),
  }
  return [...columns, actions]
}
