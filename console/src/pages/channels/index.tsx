import './channels.css'
import { useCallback, useState } from 'preact/hooks'
import { get } from '../../api/request.ts'
import type { AllOf, Channel } from '../../api/types.ts'
import { useLoad } from '../../api/use-load.ts'
import { TONES } from '../../catalogue/channel-state.tsx'
import { number } from '../../format.ts'
import { catalogue } from '../../i18n/catalogue.ts'
import { formatName } from '../../i18n/formats.ts'
import { useShortcut } from '../../keyboard.ts'
import { isAdmin } from '../../session-state.ts'
import { Button } from '../../ui/button.tsx'
import { Check, Select } from '../../ui/field.tsx'
import { Bar, Card, Page } from '../../ui/page.tsx'
import { matches, SearchBox } from '../../ui/search-box.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { useQuery } from '../../use-query.ts'
import type { Action } from './actions.ts'
import { channelColumns } from './channel-columns.tsx'
import { ChannelPanel, VIEWS } from './channel-panel.tsx'
import { DrainDialog, ResumeDialog } from './drain-dialog.tsx'
import { ChannelEditor } from './editor/index.tsx'
import { DeleteDialog, YamlDialog } from './stored-dialogs.tsx'
import { Summary } from './summary.tsx'
import { TestDialog } from './test-dialog.tsx'
import { text } from './texts.ts'

/** Interval between two loads of the channels, in milliseconds. */
const REFRESH = 3000

const loadAll = (signal: AbortSignal): Promise<AllOf<Channel>> => get<AllOf<Channel>>('/channels', {}, signal)

/** Channels page: the state of all channels, refreshed while the page is open. */
export default function Channels() {
  const [isLive, setLive] = useState(true)
  const [isAdding, setAdding] = useState(false)
  const add = useCallback(() => isAdmin.value && setAdding(true), [])
  useShortcut('n', add, isAdmin.value ? text().editor.add : undefined)
  const channels = useLoad(loadAll, [], isLive ? { every: REFRESH } : {})
  const words = text()
  return (
    <Page
      title={words.title}
      lead={words.lead}
      actions={
        <>
          <Check label={words.live} checked={isLive} onValue={setLive} />
          {isAdmin.value && (
            <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
              {words.editor.add}
            </Button>
          )}
        </>
      }
    >
      <Loaded of={channels} lines={8}>
        {({ data }) => <All channels={data} onChanged={channels.reload} />}
      </Loaded>
      {isAdding && (
        <ChannelEditor
          onClose={() => setAdding(false)}
          onSaved={async ({ name }) => {
            setAdding(false)
            toast(words.editor.added(name))
            await channels.reload()
          }}
        />
      )}
    </Page>
  )
}

interface AllProps {
  readonly channels: readonly Channel[]
  readonly onChanged: () => unknown
}

const DIALOGS = {
  ...{ test: TestDialog, drain: DrainDialog, resume: ResumeDialog },
  ...{ yaml: YamlDialog, delete: DeleteDialog },
} as const

function All({ channels, onChanged }: AllProps) {
  const [query, setQuery] = useQuery()
  const [search, setSearch] = useState(query['q'] ?? '')
  const [doing, setDoing] = useState<{ readonly action: Action; readonly name: string }>()
  const state = query['state'] ?? ''
  const shown = channels.filter(
    one =>
      (state === '' || one.state === state) &&
      matches(search, one.name, one.provider, ...one.formats.map(formatName), ...Object.keys(one.models)),
  )
  const named = (name: string | undefined): Channel | undefined => channels.find(one => one.name === name)
  const [opened, done] = [named(query['channel']), named(doing?.name)]
  const Doing = doing && doing.action !== 'edit' ? DIALOGS[doing.action] : undefined
  if (channels.length === 0) return <Nothing isFirst />
  return (
    <>
      <Summary of={channels} />
      <div class="channels-bar">
        <Bar>
          <SearchBox value={search} onValue={setSearch} label={text().search} />
          <Select
            label={text().state}
            hideLabel
            value={state}
            onValue={value => setQuery({ state: value })}
            options={[
              { value: '', label: text().anyState },
              ...STATES.map(value => ({ value, label: catalogue().states[value] })),
            ]}
          />
          <span class="push faint" role="status">
            {text().shown(number(shown.length), number(channels.length))}
          </span>
        </Bar>
      </div>
      {shown.length === 0 ? (
        <Nothing />
      ) : (
        <Card flush>
          <div class="channels-table">
            <Table
              label={text().title}
              columns={channelColumns({
                onOpen: ({ name }) => setQuery({ channel: name }),
                onAction: (action, { name }) => setDoing({ action, name }),
              })}
              rows={shown}
              rowId={({ name }) => name}
              onOpen={({ name }) => setQuery({ channel: name })}
              cards
            />
          </div>
        </Card>
      )}
      {opened && (
        <ChannelPanel
          of={opened}
          view={VIEWS.find(view => view === query['view']) ?? 'now'}
          onView={view => setQuery({ view })}
          onAction={action => setDoing({ action, name: opened.name })}
          onClose={() => setQuery({ channel: undefined, view: undefined })}
        />
      )}
      {doing?.action === 'edit' && (
        <ChannelEditor
          name={doing.name}
          onClose={() => setDoing(undefined)}
          onSaved={async ({ name }) => {
            setDoing(undefined)
            toast(text().editor.changed(name))
            await onChanged()
          }}
        />
      )}
      {Doing && done && (
        <Doing of={done} {...{ onTested: onChanged, onDone: onChanged }} onClose={() => setDoing(undefined)} />
      )}
    </>
  )
}

const STATES = Object.keys(TONES) as readonly Channel['state'][]

const Nothing = ({ isFirst }: { readonly isFirst?: boolean }) => {
  const words = text().empty
  return (
    <Card>
      <Empty icon={isFirst ? 'channels' : 'search'} title={isFirst ? words.title : words.found}>
        {isFirst ? words.text : words.foundText}
      </Empty>
    </Card>
  )
}
