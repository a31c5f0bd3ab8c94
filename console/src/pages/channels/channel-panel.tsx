import type { ComponentChildren } from 'preact'
import type { Channel } from '../../api/types.ts'
import { StateBadge } from '../../catalogue/channel-state.tsx'
import { FailureText } from '../../catalogue/failure.tsx'
import { number } from '../../format.ts'
import { hrefOf } from '../../href.ts'
import { catalogue } from '../../i18n/catalogue.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Fact, Facts, Tile, Tiles } from '../../ui/facts.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { When } from '../../ui/when.tsx'
import { type Action, actionsOf, ICONS } from './actions.ts'
import { Dialects } from './dialects.tsx'
import { Errors } from './errors.tsx'
import { Keys } from './keys.tsx'
import { RateTile } from './summary.tsx'
import { text } from './texts.ts'

/** Tabs of the panel. */
export const VIEWS = ['now', 'errors', 'formats'] as const
export type View = (typeof VIEWS)[number]

interface ChannelPanelProps {
  readonly of: Channel
  readonly view: View
  readonly onView: (view: View) => void
  readonly onAction: (action: Action) => void
  readonly onClose: () => void
}

/** Side panel with the details of one channel. */
export function ChannelPanel({ of, view, onView, onAction, onClose }: ChannelPanelProps) {
  const words = text().panel
  const actions = actionsOf(of)
  return (
    <Dialog
      title={of.name}
      place="side"
      wide
      onClose={onClose}
      footer={
        actions.length > 0 &&
        [...actions].reverse().map(action => (
          <Button
            key={action}
            kind={action === 'test' ? 'primary' : action === 'delete' ? 'plain' : 'secondary'}
            icon={ICONS[action]}
            onClick={() => onAction(action)}
          >
            {text().actions[action]}
          </Button>
        ))
      }
    >
      <Tabs<View>
        label={of.name}
        value={view}
        onValue={onView}
        tabs={[
          { value: 'now', label: words.tabs.now },
          { value: 'errors', label: words.tabs.errors(of.last_errors.length) },
          { value: 'formats', label: words.tabs.formats },
        ]}
      >
        <div class="stack">{VIEW[view](of)}</div>
      </Tabs>
    </Dialog>
  )
}

const VIEW: { readonly [V in View]: (of: Channel) => ComponentChildren } = {
  now: of => <Now of={of} />,
  errors: of => <Errors of={of} />,
  formats: of => <Dialects name={of.name} />,
}

interface OfChannel {
  readonly of: Channel
}

function Now({ of }: OfChannel) {
  const words = text().panel
  const { in_flight, max_concurrent: most } = of
  return (
    <>
      <p class="channels-state">
        <StateBadge state={of.state} until={of.resting_until} />
        <span>{catalogue().stateMeanings[of.state]}</span>
      </p>
      {of.failing_since !== undefined && of.last_errors[0] !== undefined && (
        <div class="channels-failing">
          <FailureText of={of.last_errors[0]} />
          <span class="note">
            {words.failingSince} <When at={of.failing_since} relative /> · <When at={of.failing_since} />
          </span>
        </div>
      )}
      <Origin of={of} />
      <Tiles>
        <Tile
          label={words.flight}
          value={number(in_flight)}
          note={most === undefined ? undefined : words.ofMost(number(most))}
        />
        <RateTile label={words.five} of={of.last_5_minutes} />
        <RateTile label={words.sixty} of={of.last_60_minutes} />
      </Tiles>
      <Facts>
        <Fact label={words.provider}>{of.provider}</Fact>
        <Fact label={words.order}>{words.orderOf(number(of.priority), number(of.weight))}</Fact>
        {of.resting_until !== undefined && (
          <Fact label={words.rests}>
            <When at={of.resting_until} relative />
          </Fact>
        )}
        {of.resting_models.length > 0 && (
          <Fact label={words.restingModels}>
            <RestingModels of={of} />
          </Fact>
        )}
        {of.keys !== undefined && (
          <Fact label={words.keys}>
            <Keys of={of.keys} />
            {of.keys_share_account === true && <span class="note">{words.sharedAccount}</span>}
          </Fact>
        )}
        <Fact label={words.models}>
          <NamedModels of={of} />
        </Fact>
        {of.patterns.length > 0 && (
          <Fact label={words.patterns}>
            <span class="badges">
              {of.patterns.map(pattern => (
                <Badge key={pattern}>
                  <code>{pattern}</code>
                </Badge>
              ))}
            </span>
            {of.listed !== undefined && <span class="note">{words.listed(number(of.listed))}</span>}
          </Fact>
        )}
      </Facts>
    </>
  )
}

/** Shows the origin of a channel that cannot be changed here, and the faults of a stored one. */
function Origin({ of: { source, stored } }: OfChannel) {
  const words = text().panel
  if (stored?.faults !== undefined && stored.faults.length > 0)
    return (
      <div class="callout warn">
        <Icon name="warning" />
        <ul class="channels-list">
          {stored.faults.map(({ path, message }) => (
            <li key={path}>
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      </div>
    )
  if (source === 'store') return null
  return (
    <p class="callout">
      <Icon name="info" />
      <span>{stored === undefined ? words.readOnly[source] : words.shadowed}</span>
    </p>
  )
}

const RestingModels = ({ of }: OfChannel) => (
  <ul class="channels-list">
    {of.resting_models.map(({ model, until }) => (
      <li key={model}>
        <code class="said">{model}</code>{' '}
        <span class="note">
          <When at={until} relative />
        </span>
      </li>
    ))}
  </ul>
)

/** Number of models shown by name. The rest is shown as a count. */
const SHOWN = 24

function NamedModels({ of: { name, models } }: OfChannel) {
  const words = text().panel
  const all = Object.entries(models)
  return (
    <>
      <span class="badges">
        {all.slice(0, SHOWN).map(([id, upstream]) => (
          <Badge key={id} title={id === upstream ? undefined : words.named(upstream)}>
            <span class="said">{id}</span>
          </Badge>
        ))}
      </span>
      <a href={`${hrefOf('/models')}?${new URLSearchParams({ channel: name })}`} class="channels-models">
        {all.length > SHOWN ? words.moreModels(number(all.length - SHOWN)) : text().panel.allModels}
      </a>
    </>
  )
}
