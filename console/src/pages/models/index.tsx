import './models.css'
import { useCallback, useMemo, useState } from 'preact/hooks'
import type { Key, Models as Listed, Model } from '../../api/types.ts'
import { useLoad } from '../../api/use-load.ts'
import { loadKeys } from '../../catalogue/load-keys.ts'
import { number } from '../../format.ts'
import { useShortcut } from '../../keyboard.ts'
import { isAdmin } from '../../session-state.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { type Query, useQuery } from '../../use-query.ts'
import { FilterBar } from './filter-bar.tsx'
import { type Filters, narrowed } from './filters.ts'
import { isValid, KeyChoice } from './key-choice.tsx'
import { loadChannels, loadModels } from './load.ts'
import type { Channels } from './model-channels.ts'
import { modelColumns } from './model-columns.tsx'
import { ModelPanel } from './model-panel.tsx'
import { SettingsForm } from './settings-form.tsx'
import { text } from './texts.ts'

/** Interval between two loads of the channels' states, in milliseconds. */
const REFRESH = 10_000

const NO_CHANNELS: Channels = new Map()
const NO_KEYS: readonly Key[] = []

/** Models page: all models, or those that a key may call. */
export default function Models() {
  const [query, setQuery] = useQuery()
  const [search, setSearch] = useState(query['q'] ?? '')
  const { key } = query
  // Id of the model whose settings are open. Empty for one that is still to be named.
  const [setting, setSetting] = useState<string>()
  const add = useCallback(() => isAdmin.value && setSetting(''), [])
  useShortcut('n', add, isAdmin.value ? text().settings.create : undefined)
  const keys = useLoad(loadKeys)
  const models = useLoad(signal => loadModels(key, signal), [key])
  const channels = useLoad(loadChannels, [], { every: REFRESH })
  const words = text()
  const of = keys.data?.find(({ id }) => id === key)
  return (
    <Page
      title={words.title}
      lead={words.lead}
      actions={
        <>
          <KeyChoice
            keys={keys.data ?? NO_KEYS}
            value={key ?? ''}
            onValue={id => setQuery({ key: id, model: undefined })}
          />
          {isAdmin.value && (
            <Button icon="plus" onClick={add}>
              {words.settings.create}
            </Button>
          )}
        </>
      }
    >
      {of !== undefined && (
        <p class={isValid(of) ? 'callout models-of' : 'callout warn models-of'}>
          <Icon name={isValid(of) ? 'keys' : 'warning'} />
          <span class="said">{isValid(of) ? words.key.valid(of.name) : words.key.invalid(of.name)}</span>
        </p>
      )}
      <Loaded of={models} lines={8}>
        {({ data, catalogue }) => (
          <Catalogue
            models={data}
            source={catalogue}
            channels={channels.data ?? NO_CHANNELS}
            filters={{ ...query, search, native: query['native'] !== undefined }}
            keyId={key}
            opened={query['model']}
            onSearch={setSearch}
            onQuery={setQuery}
            onSettings={setSetting}
          />
        )}
      </Loaded>
      {setting !== undefined && (
        <SettingsForm
          id={setting}
          onClose={() => setSetting(undefined)}
          onDone={said => {
            setSetting(undefined)
            toast(said)
            void models.reload()
          }}
        />
      )}
    </Page>
  )
}

interface CatalogueProps {
  readonly models: readonly Model[]
  readonly source: Listed['catalogue']
  readonly channels: Channels
  readonly filters: Filters
  readonly keyId: string | undefined
  /** Id of the model whose details are open. */
  readonly opened: string | undefined
  readonly onSearch: (search: string) => void
  readonly onQuery: (changes: Query) => void
  readonly onSettings: (id: string) => void
}

function Catalogue({
  models,
  source,
  channels,
  filters,
  keyId,
  opened,
  onSearch,
  onQuery,
  onSettings,
}: CatalogueProps) {
  const shown = useMemo(() => narrowed(models, filters), [models, ...Object.values(filters)])
  const open = opened === undefined ? undefined : models.find(({ id }) => id === opened)
  if (models.length === 0) return <Nothing isOfKey={keyId !== undefined} />
  return (
    <>
      <FilterBar models={models} filters={filters} onSearch={onSearch} onFilter={onQuery} />
      <p class="models-count" role="status">
        {text().shown(number(shown.length), number(models.length))}
        <span class="models-source">{text().source(`${source.package} ${source.version}`, source.date)}</span>
      </p>
      <Card flush>
        {shown.length > 0 ? (
          <div class="models-table">
            <Table
              label={text().title}
              columns={modelColumns(channels, ({ id }) => onQuery({ model: id }))}
              rows={shown}
              rowId={({ id }) => id}
              onOpen={({ id }) => onQuery({ model: id })}
              cards
            />
          </div>
        ) : (
          <Empty icon="search" title={text().empty.found}>
            {text().empty.foundText}
          </Empty>
        )}
      </Card>
      {open && (
        <ModelPanel
          of={open}
          channels={channels}
          keyId={keyId}
          onSettings={() => onSettings(open.id)}
          onClose={() => onQuery({ model: undefined })}
        />
      )}
    </>
  )
}

const Nothing = ({ isOfKey }: { readonly isOfKey: boolean }) => {
  const words = text().empty
  return (
    <Card>
      <Empty icon={isOfKey ? 'keys' : 'models'} title={isOfKey ? words.key : words.title}>
        {isOfKey ? words.keyText : words.text}
      </Empty>
    </Card>
  )
}
