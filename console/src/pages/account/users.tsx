import { useState } from 'preact/hooks'
import { get, patch } from '../../api/request.ts'
import type { AllOf, User } from '../../api/types.ts'
import { useLoad } from '../../api/use-load.ts'
import { common } from '../../i18n/common.ts'
import { loadSession } from '../../session.ts'
import { session } from '../../session-state.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Menu, type MenuItem } from '../../ui/menu.tsx'
import { Card } from '../../ui/page.tsx'
import { Loaded } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { toast, toastProblem } from '../../ui/toast.tsx'
import { When } from '../../ui/when.tsx'
import { PasswordOnce } from './password-once.tsx'
import { text } from './texts.ts'
import { type Asked, UserConfirm } from './user-confirm.tsx'
import { UserForm } from './user-form.tsx'

type Open =
  | { readonly kind: 'create' }
  | { readonly kind: 'confirm'; readonly asked: Asked; readonly user: User }
  | { readonly kind: 'password'; readonly name: string; readonly password: string }

/** List of all console users, for admins. */
export function Users() {
  const users = useLoad(signal => get<AllOf<User>>('/users', {}, signal))
  const [open, setOpen] = useState<Open>()
  const close = (): void => setOpen(undefined)
  const change = (user: User, fields: Partial<Pick<User, 'role' | 'enabled'>>): void =>
    void patch(`/users/${encodeURIComponent(user.name)}`, fields)
      .then(() => {
        toast(text().users.changed(user.name))
        // After a change of the user's role, the session is reloaded, because it decides what this page shows.
        return user.name === session.value?.user.name ? loadSession() : users.reload()
      })
      .catch(toastProblem)
  const made = (name: string, password: string): void => {
    setOpen({ kind: 'password', name, password })
    void users.reload()
  }
  return (
    <>
      <Card
        title={text().users.title}
        flush
        actions={
          <Button small icon="plus" onClick={() => setOpen({ kind: 'create' })}>
            {text().users.create}
          </Button>
        }
      >
        <Loaded of={users}>
          {({ data }) => (
            <Table
              label={text().users.title}
              columns={columnsOf(change, (asked, user) => setOpen({ kind: 'confirm', asked, user }))}
              rows={data}
              rowId={user => user.name}
              cards
            />
          )}
        </Loaded>
      </Card>
      {open?.kind === 'create' && <UserForm onMade={made} onClose={close} />}
      {open?.kind === 'password' && <PasswordOnce name={open.name} password={open.password} onClose={close} />}
      {open?.kind === 'confirm' && (
        <UserConfirm
          asked={open.asked}
          user={open.user}
          onPassword={made}
          onDone={() => void users.reload()}
          onClose={() => setOpen(now => (now?.kind === 'confirm' ? undefined : now))}
        />
      )}
    </>
  )
}

type Change = (user: User, fields: Partial<Pick<User, 'role' | 'enabled'>>) => void
type Ask = (asked: Asked, user: User) => void

function columnsOf(change: Change, ask: Ask): readonly Column<User>[] {
  const words = text().users
  return [
    {
      ...{ id: 'name', title: words.columns.name, sort: user => user.name },
      cell: ({ name }) => (
        <span class="user">
          <strong>{name}</strong>
          {name === session.value?.user.name && <span class="faint">{words.you}</span>}
        </span>
      ),
    },
    {
      ...{ id: 'role', title: words.columns.role, sort: user => user.role },
      cell: ({ role }) => <Badge tone={role === 'admin' ? 'accent' : 'neutral'}>{common().role[role]}</Badge>,
    },
    { id: 'source', title: words.columns.source, wide: true, cell: ({ source }) => words.sources[source] },
    {
      ...{ id: 'state', title: words.columns.state, sort: user => String(user.enabled) },
      cell: ({ enabled }) => (
        <Badge tone={enabled ? 'good' : 'neutral'} dot>
          {enabled ? words.enabled : words.disabled}
        </Badge>
      ),
    },
    {
      ...{ id: 'signedIn', title: words.columns.signedIn, sort: user => user.signed_in_at },
      cell: ({ signed_in_at }) => <When at={signed_in_at} relative />,
    },
    {
      ...{ id: 'actions', title: words.columns.name, untitled: true },
      cell: user => <Menu label={words.actionsFor(user.name)} items={itemsOf(user, change, ask)} />,
    },
  ]
}

/** Menu items for a user. The identity provider sets the roles of its users, so they cannot be changed here. */
function itemsOf(user: User, change: Change, ask: Ask): readonly MenuItem[] {
  const words = text().users
  const role = user.role === 'admin' ? 'viewer' : 'admin'
  const own: readonly MenuItem[] = [
    {
      ...{ label: role === 'admin' ? words.makeAdmin : words.makeViewer, icon: 'edit' },
      onSelect: () => change(user, { role }),
    },
    { label: words.reset, icon: 'keys', onSelect: () => ask('reset', user) },
  ]
  return [
    ...(user.source === 'password' ? own : []),
    { label: words.end, icon: 'leave', onSelect: () => ask('end', user) },
    user.enabled
      ? { label: words.disable, icon: 'stop', onSelect: () => ask('disable', user) }
      : { label: words.enable, icon: 'play', onSelect: () => change(user, { enabled: true }) },
    { label: words.remove, icon: 'trash', danger: true, onSelect: () => ask('remove', user) },
  ]
}
