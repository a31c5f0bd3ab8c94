import './keys.css'
import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { get } from '../../api/request.ts'
import type { Settings } from '../../api/types.ts'
import { useLoad } from '../../api/use-load.ts'
import { hrefOf } from '../../href.ts'
import { isAdmin } from '../../session-state.ts'
import { Button } from '../../ui/button.tsx'
import { Page } from '../../ui/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { GroupsView } from './groups-view.tsx'
import { KeysView } from './keys-view.tsx'
import { ALL, AT_ONCE, type KeysUsage, loadGroups, loadKeys, loadUsage } from './load.ts'
import { text } from './texts.ts'

type View = 'keys' | 'groups'

const NONE: KeysUsage = { byKey: new Map(), budgetsByGroup: new Map(), isComplete: true }

/** Keys page: the callers' keys and their groups. */
export default function Keys() {
  const { query, route } = useLocation()
  const view: View = query['view'] === 'groups' ? 'groups' : 'keys'
  const [revoked, setRevoked] = useState(false)
  const [isCreating, setCreating] = useState(false)
  const [most, setMost] = useState(AT_ONCE)
  const keys = useLoad(signal => loadKeys(revoked, most, signal), [revoked, most])
  const groups = useLoad(loadGroups)
  const usage = useLoad(loadUsage, [], { every: 60_000 })
  const settings = useLoad(signal => get<Settings>('/config', {}, signal))
  const words = text()
  return (
    <Page
      title={words.title}
      lead={words.lead}
      actions={
        isAdmin.value && (
          <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
            {view === 'keys' ? words.create : words.groups.create}
          </Button>
        )
      }
    >
      <Tabs<View>
        label={words.title}
        value={view}
        onValue={next => {
          setCreating(false)
          route(`${hrefOf('/keys')}${next === 'groups' ? '?view=groups' : ''}`, true)
        }}
        tabs={[
          { value: 'keys', label: words.tabs.keys },
          { value: 'groups', label: words.tabs.groups },
        ]}
      >
        {view === 'keys' ? (
          <KeysView
            // A link to another group's keys mounts the view anew, with that group as its filter.
            key={query['group'] ?? ''}
            keys={keys}
            usage={usage.data ?? NONE}
            groups={groups.data ?? []}
            settings={settings.data}
            revoked={revoked}
            onRevoked={setRevoked}
            onMore={() => setMost(most + AT_ONCE)}
            onAll={() => setMost(Math.max(most, ALL))}
            isCreating={isCreating}
            onCreating={setCreating}
          />
        ) : (
          <GroupsView
            groups={groups}
            keys={keys.data}
            usage={usage.data ?? NONE}
            settings={settings.data}
            isCreating={isCreating}
            onCreating={setCreating}
          />
        )}
      </Tabs>
    </Page>
  )
}
