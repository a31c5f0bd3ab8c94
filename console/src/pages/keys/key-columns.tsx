import type { Key } from '../../api/types.ts'
import { costText } from '../../catalogue/cost.ts'
import { number } from '../../format.ts'
import { isAdmin } from '../../session-state.ts'
import { Badge } from '../../ui/badge.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Sparkline } from '../../ui/sparkline.tsx'
import type { Column } from '../../ui/table.tsx'
import { When } from '../../ui/when.tsx'
import { BudgetBars } from './budgets.tsx'
import { type KeyAction, mayChange, menuOf } from './key-actions.ts'
import { State, stateOf } from './key-state.tsx'
import { LimitsCell } from './limits.tsx'
import { type KeyUsage, NO_USAGE } from './load.ts'
import { text } from './texts.ts'

interface Cells {
  readonly usage: ReadonlyMap<string, KeyUsage>
  readonly onOpen: (key: Key) => void
  readonly onAction: (action: KeyAction, key: Key) => void
}

/** Columns of the key list. */
export function keyColumns({ usage, onOpen, onAction }: Cells): readonly Column<Key>[] {
  const words = text().columns
  const used = ({ id }: Key): KeyUsage => usage.get(id) ?? NO_USAGE
  const columns: Column<Key>[] = [
    {
      ...{ id: 'name', title: words.name, sort: key => key.name },
      cell: key => <NameCell of={key} onOpen={() => onOpen(key)} />,
    },
    { id: 'group', title: words.group, sort: key => key.group, cell: key => <Badge>{key.group}</Badge> },
    { id: 'state', title: words.state, sort: stateOf, cell: key => <State row={key} /> },
    {
      ...{ id: 'limits', title: words.limits, wide: true },
      cell: key => {
        const { budgets } = used(key)
        return (
          <>
            <LimitsCell of={key} none={text().limit.none} />
            {budgets && <BudgetBars of={budgets} />}
          </>
        )
      },
    },
    {
      ...{ id: 'usage', title: words.usage, sort: key => used(key).requests, number: true },
      cell: key => <UsageCell of={used(key)} />,
    },
    {
      ...{ id: 'cost', title: words.cost, sort: key => used(key).cost, number: true, wide: true },
      cell: key => costText(used(key)),
    },
    {
      ...{ id: 'lastUsed', title: words.lastUsed, sort: key => key.last_used_at },
      cell: key => <When at={key.last_used_at} relative />,
    },
  ]
  if (!isAdmin.value) return columns
  const actions: Column<Key> = {
    ...{ id: 'actions', title: text().columns.name, untitled: true },
    cell: key =>
      mayChange(key) && (
        <Menu label={text().actionsFor(key.name)} items={menuOf(key, action => onAction(action, key))} />
      ),
  }
  return [...columns, actions]
}

const shortened = ({ prefix, last_four }: Key['secrets'][number]): string => `${prefix}…${last_four}`

const NameCell = ({ of, onOpen }: { readonly of: Key; readonly onOpen: () => void }) => (
  <span class="key-name">
    <button type="button" class="opener" onClick={onOpen} aria-label={text().open(of.name)}>
      {of.name}
    </button>
    {of.source === 'config' ? (
      <span class="note">{text().states.config}</span>
    ) : (
      <code class="note">{of.secrets.filter(one => one.expires_at === undefined).map(shortened)}</code>
    )}
  </span>
)

const UsageCell = ({ of }: { readonly of: KeyUsage }) => (
  <span class="usage">
    {of.days && <Sparkline width={64} values={of.days} label={text().sparkline(number(of.requests))} />}
    <span>{number(of.requests)}</span>
  </span>
)
