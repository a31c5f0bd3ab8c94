import type { Channel } from '../../api/types.ts'
import { StateBadge } from '../../catalogue/channel-state.tsx'
import { ErrorRate } from '../../catalogue/error-rate.tsx'
import { ago, number } from '../../format.ts'
import { named } from '../../i18n/catalogue.ts'
import { formatName } from '../../i18n/formats.ts'
import { isAdmin } from '../../session-state.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Menu } from '../../ui/menu.tsx'
import type { Column } from '../../ui/table.tsx'
import { When } from '../../ui/when.tsx'
import { type Action, menuOf } from './actions.ts'
import { text } from './texts.ts'

interface Cells {
  readonly onOpen: (channel: Channel) => void
  readonly onAction: (action: Action, channel: Channel) => void
}

/** Columns of the channel list. */
export function channelColumns({ onOpen, onAction }: Cells): readonly Column<Channel>[] {
  const words = text().columns
  const columns: Column<Channel>[] = [
    {
      ...{ id: 'channel', title: words.channel, sort: ({ name }) => name },
      cell: channel => <NameCell of={channel} onOpen={() => onOpen(channel)} />,
    },
    {
      ...{ id: 'state', title: words.state, sort: ({ state }) => state },
      cell: channel => <StateCell of={channel} />,
    },
    { id: 'formats', title: words.formats, wide: true, cell: channel => <FormatsCell of={channel} /> },
    {
      ...{ id: 'flight', title: words.flight, number: true, sort: one => one.in_flight },
      cell: channel => <FlightCell of={channel} />,
    },
    {
      ...{ id: 'five', title: words.five, number: true, sort: one => one.last_5_minutes.error_rate },
      cell: one => <ErrorRate of={one.last_5_minutes} />,
    },
    {
      ...{ id: 'sixty', title: words.sixty, number: true, sort: one => one.last_60_minutes.error_rate },
      cell: one => <ErrorRate of={one.last_60_minutes} />,
    },
    {
      ...{ id: 'last', title: words.last, sort: one => one.last_errors[0]?.at },
      cell: channel => <LastErrorCell of={channel} />,
    },
  ]
  if (!isAdmin.value) return columns
  return [
    ...columns,
    {
      ...{ id: 'actions', title: words.channel, untitled: true },
      cell: channel => (
        <span class="channels-actions">
          <Button small onClick={() => onAction('test', channel)} aria-label={text().test.title(channel.name)}>
            {text().actions.test}
          </Button>
          <Menu label={text().actionsFor(channel.name)} items={menuOf(channel, action => onAction(action, channel))} />
        </span>
      ),
    },
  ]
}

interface OfChannel {
  readonly of: Channel
}

const NameCell = ({ of: { name, provider, source }, onOpen }: OfChannel & { readonly onOpen: () => void }) => (
  <span class="two-lines">
    <button type="button" class="opener cut" title={name} onClick={onOpen} aria-label={text().open(name)}>
      {name}
    </button>
    <span class="note">{[provider === name ? '' : provider, text().sources[source]].filter(Boolean).join(' · ')}</span>
  </span>
)

const StateCell = ({
  of: { state, failing_since: since, resting_until: until, resting_models: resting },
}: OfChannel) => (
  <span class="two-lines">
    <StateBadge state={state} until={until} />
    {since !== undefined && <span class="note">{text().since(ago(since))}</span>}
    {since === undefined && until !== undefined && <span class="note">{text().until(ago(until))}</span>}
    {since === undefined && until === undefined && resting.length > 0 && (
      <span class="note" title={resting.map(({ model }) => model).join('\n')}>
        {text().resting(resting.length)}
      </span>
    )}
  </span>
)

/** Number of formats shown by name. The rest is shown as a count. */
const SHOWN = 1

const FormatsCell = ({ of: { formats } }: OfChannel) => (
  <span class="badges" title={formats.map(formatName).join(', ')}>
    {formats.slice(0, SHOWN).map(format => (
      <Badge key={format}>{formatName(format)}</Badge>
    ))}
    {formats.length > SHOWN && <span class="note">{text().more(formats.length - SHOWN)}</span>}
  </span>
)

function FlightCell({ of: { in_flight, max_concurrent: most } }: OfChannel) {
  if (most === undefined) return <>{number(in_flight)}</>
  return (
    <span class="channels-flight">
      {number(in_flight)} <span class="faint">/ {number(most)}</span>
    </span>
  )
}

function LastErrorCell({ of: { last_errors } }: OfChannel) {
  const [last] = last_errors
  if (last === undefined) return <span class="faint">{text().noError}</span>
  return (
    <span class="two-lines channels-last">
      <span class="cut said" title={last.message}>
        {last.status === undefined ? named('reasons', last.reason) : named('kinds', last.kind)}
        {last.status !== undefined && <span class="faint"> · {last.status}</span>}
      </span>
      <span class="note">
        <When at={last.at} relative />
      </span>
    </span>
  )
}
