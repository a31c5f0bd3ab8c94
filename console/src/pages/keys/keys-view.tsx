import { useCallback, useEffect, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { remove } from '../../api/request.ts'
import type { Group, Key, NewKey, PageOf, Settings } from '../../api/types.ts'
import type { Loaded as Load } from '../../api/use-load.ts'
import { ago, number } from '../../format.ts'
import { useShortcut } from '../../keyboard.ts'
import { isAdmin } from '../../session-state.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Check, Select } from '../../ui/field.tsx'
import { Bar, Card } from '../../ui/page.tsx'
import { Pager } from '../../ui/pager.tsx'
import { matches, SearchBox } from '../../ui/search-box.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { toast, toastProblem } from '../../ui/toast.tsx'
import { type KeyAction, switchCapture, switchEnabled } from './key-actions.ts'
import { keyColumns } from './key-columns.tsx'
import { KeyForm } from './key-form.tsx'
import { KeyPanel } from './key-panel.tsx'
import { type KeysUsage, NO_USAGE } from './load.ts'
import { RotateDialog } from './rotate-dialog.tsx'
import { SecretDialog } from './secret-dialog.tsx'
import { text } from './texts.ts'

interface KeysViewProps {
  readonly keys: Load<PageOf<Key>>
  readonly usage: KeysUsage
  readonly groups: readonly Group[]
  readonly settings: Settings | undefined
  readonly revoked: boolean
  readonly onRevoked: (revoked: boolean) => void
  /** Loads more keys. */
  readonly onMore: () => void
  /** Loads all keys. */
  readonly onAll: () => void
  /** Whether the form for a new key is open. A button of the page opens it. */
  readonly isCreating: boolean
  readonly onCreating: (isCreating: boolean) => void
}

/** Panel or dialog that is open over the list. */
type Open =
  | { readonly kind: 'panel' | 'change' | 'rotate' | 'revoke'; readonly key: Key }
  | { readonly kind: 'secret'; readonly key: NewKey; readonly why: 'made' | 'rotated' }

/** Tab with the list of keys. */
export function KeysView(props: KeysViewProps) {
  const { keys, usage, groups, settings, revoked, onRevoked, onMore, onAll, isCreating, onCreating } = props
  const { query } = useLocation()
  const [search, setSearch] = useState(query['q'] ?? '')
  const [group, setGroup] = useState(query['group'] ?? '')
  const [open, setOpen] = useState<Open>()
  const close = (): void => {
    setOpen(undefined)
    onCreating(false)
  }
  const create = useCallback(() => isAdmin.value && onCreating(true), [onCreating])
  useShortcut('n', create, isAdmin.value ? text().create : undefined)

  const act = (action: KeyAction, key: Key): void => {
    if (action === 'capture' || action === 'enable')
      (action === 'capture' ? switchCapture : switchEnabled)(key)
        .then(said => {
          toast(said)
          close()
          return keys.reload()
        })
        .catch(toastProblem)
    else setOpen({ kind: action, key })
  }
  const isNarrowed = search.trim() !== '' || group !== ''
  const hasMore = keys.data?.next_cursor !== undefined
  useEffect(() => {
    if (isNarrowed && hasMore) onAll()
  }, [isNarrowed, hasMore])
  const shown = (all: readonly Key[]): readonly Key[] =>
    all.filter(
      key =>
        (group === '' || key.group === group) &&
        matches(
          search,
          key.name,
          key.note,
          key.group,
          key.id,
          ...key.secrets.flatMap(one => [one.prefix, one.last_four]),
        ),
    )

  return (
    <>
      <Bar>
        <SearchBox value={search} onValue={setSearch} label={text().search} />
        <Select
          label={text().group}
          hideLabel
          value={group}
          onValue={setGroup}
          options={[
            { value: '', label: text().allGroups },
            ...groups.map(({ name }) => ({ value: name, label: name })),
          ]}
        />
        <Check label={text().showRevoked} checked={revoked} onValue={onRevoked} />
        {keys.data && (
          <span class="push faint" role="status">
            {text().shown(number(shown(keys.data.data).length), countOf(keys.data))}
          </span>
        )}
      </Bar>
      <Card flush>
        <Loaded of={keys}>
          {({ data }) =>
            shown(data).length > 0 ? (
              <Table
                label={text().tabs.keys}
                columns={keyColumns({
                  usage: usage.byKey,
                  onOpen: key => setOpen({ kind: 'panel', key }),
                  onAction: act,
                })}
                rows={shown(data)}
                rowId={key => key.id}
                onOpen={key => setOpen({ kind: 'panel', key })}
                isFaint={key => key.revoked_at !== undefined}
                cards
              />
            ) : (
              <Nothing isFirst={data.length === 0} onCreate={create} />
            )
          }
        </Loaded>
        {keys.data?.next_cursor !== undefined && (
          <Pager more onMore={onMore} note={text().first(number(keys.data.data.length))} />
        )}
        {!usage.isComplete && <Pager more={false} note={text().mostUsed} onMore={onMore} />}
      </Card>
      <Opened {...{ open, setOpen, close, act, keys, usage, groups, settings, isCreating, onCreating }} />
    </>
  )
}

/** Formats the number of loaded keys: `1,000+` if there are more. */
const countOf = ({ data, next_cursor: next }: PageOf<Key>): string =>
  `${number(data.length)}${next === undefined ? '' : '+'}`

const Nothing = ({ isFirst, onCreate }: { readonly isFirst: boolean; readonly onCreate: () => void }) => {
  const words = text().empty
  return (
    <Empty
      icon={isFirst ? 'keys' : 'search'}
      title={isFirst ? words.title : words.found}
      action={
        isFirst &&
        isAdmin.value && (
          <Button kind="primary" icon="plus" onClick={onCreate}>
            {text().create}
          </Button>
        )
      }
    >
      {isFirst ? words.text : words.foundText}
    </Empty>
  )
}

interface OpenedProps
  extends Pick<KeysViewProps, 'keys' | 'usage' | 'groups' | 'settings' | 'isCreating' | 'onCreating'> {
  readonly open: Open | undefined
  readonly setOpen: (open: Open) => void
  readonly close: () => void
  readonly act: (action: KeyAction, key: Key) => void
}

/** Renders the open panel or dialog, if any. */
function Opened(props: OpenedProps) {
  const { open, setOpen, close, act, keys, usage, groups, settings, isCreating, onCreating } = props
  if (isCreating || open?.kind === 'change')
    return (
      <KeyForm
        {...(open?.kind === 'change' ? { of: open.key } : {})}
        groups={groups}
        doors={settings?.doors ?? []}
        onMade={key => {
          onCreating(false)
          setOpen({ kind: 'secret', key, why: 'made' })
          void keys.reload()
        }}
        onChanged={key => {
          toast(text().done.changed(key.name))
          close()
          void keys.reload()
        }}
        onClose={close}
      />
    )
  if (open === undefined) return null
  if (open.kind === 'secret') return <SecretDialog of={open.key} why={open.why} settings={settings} onClose={close} />
  if (open.kind === 'rotate')
    return (
      <RotateDialog
        of={open.key}
        onRotated={key => {
          setOpen({ kind: 'secret', key, why: 'rotated' })
          void keys.reload()
        }}
        onClose={close}
      />
    )
  const { key } = open
  if (open.kind === 'panel')
    return (
      <KeyPanel
        of={key}
        usage={usage.byKey.get(key.id) ?? NO_USAGE}
        onAction={action => act(action, key)}
        onClose={close}
      />
    )
  return <Revoke of={key} onRevoked={() => keys.reload()} onClose={close} />
}

interface RevokeProps {
  readonly of: Key
  readonly onRevoked: () => unknown
  readonly onClose: () => void
}

const Revoke = ({ of, onRevoked, onClose }: RevokeProps) => {
  const words = text().revoke
  return (
    <Confirm
      title={words.title(of.name)}
      action={words.submit}
      danger
      onClose={onClose}
      onConfirm={async () => {
        await remove(`/keys/${encodeURIComponent(of.id)}`)
        toast(text().done.revoked(of.name))
        void onRevoked()
      }}
    >
      <p>{words.text}</p>
      <p class="faint">{of.last_used_at ? words.used(ago(of.last_used_at)) : words.unused}</p>
    </Confirm>
  )
}
