import type { ComponentChildren } from 'preact'
import type { Model } from '../../api/types.ts'
import { StateBadge } from '../../catalogue/channel-state.tsx'
import { ErrorRate } from '../../catalogue/error-rate.tsx'
import { hasTokenPrice, pricedUnits } from '../../catalogue/unit-price.tsx'
import { money, number } from '../../format.ts'
import { hrefOf } from '../../href.ts'
import { catalogue, named } from '../../i18n/catalogue.ts'
import { common } from '../../i18n/common.ts'
import { formatName } from '../../i18n/formats.ts'
import { isAdmin } from '../../session-state.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Copy } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Fact, Facts, Tile, Tiles } from '../../ui/facts.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Table } from '../../ui/table.tsx'
import { abilitiesOf } from './abilities.ts'
import { type Channels, stateOf } from './model-channels.ts'
import { text } from './texts.ts'

interface ModelPanelProps {
  readonly of: Model
  readonly channels: Channels
  /** Id of the key whose models are shown. */
  readonly keyId: string | undefined
  readonly onSettings: () => void
  readonly onClose: () => void
}

/** Side panel with the details of one model. */
export function ModelPanel({ of, channels, keyId, onSettings, onClose }: ModelPanelProps) {
  const words = text().panel
  return (
    <Dialog
      title={of.name ?? of.id}
      place="side"
      onClose={onClose}
      footer={
        <>
          {isAdmin.value && (
            <Button icon="edit" onClick={onSettings}>
              {text().settings.open}
            </Button>
          )}
          <a class="button primary" href={startAt(of, keyId)}>
            <Icon name="play" />
            {words.start}
          </a>
        </>
      }
    >
      <div class="models-id">
        <code class="said">{of.id}</code>
        <Copy text={of.id} what={words.id} kind="plain" small bare />
      </div>
      {of.description !== undefined && <p class="said">{of.description}</p>}
      <section>
        <h3>{words.use}</h3>
        <Facts>
          <Fact label={words.interface}>
            {of.interface === undefined ? <Unknown /> : <Badge tone="accent">{formatName(of.interface)}</Badge>}
          </Fact>
          <Fact label={words.native}>
            <Names all={of.native.map(formatName)} note={words.nativeHint} tone="good" />
          </Fact>
          <Fact label={words.translated}>
            <Names all={of.translated.map(formatName)} note={words.translatedHint} />
          </Fact>
          <Fact label={words.order}>{words.orders[of.order]}</Fact>
          {of.fallbacks !== undefined && of.fallbacks.length > 0 && (
            <Fact label={words.fallbacks}>
              <Fallbacks of={of.fallbacks} />
            </Fact>
          )}
        </Facts>
      </section>
      <section>
        <h3>{words.can}</h3>
        <Abilities of={of} />
      </section>
      <Prices of={of.price} />
      <section>
        <h3>{words.channels}</h3>
        {of.channels.length === 0 ? (
          <p class="faint">{words.noChannel}</p>
        ) : (
          <ItsChannels of={of} channels={channels} />
        )}
      </section>
    </Dialog>
  )
}

/** Prices of tokens, and of other units that have one. */
function Prices({ of }: { readonly of: Model['price'] }) {
  const words = text().panel
  const units = pricedUnits(of)
  return (
    <>
      {(hasTokenPrice(of) || units.length === 0) && (
        <section>
          <h3>{words.prices}</h3>
          <Tiles>
            {(['input', 'output', 'cache_read', 'cache_write'] as const).map(kind => (
              <Tile key={kind} label={words.price[kind]} value={money(of?.[kind])} />
            ))}
          </Tiles>
        </section>
      )}
      {units.length > 0 && (
        <section>
          <h3>{words.unitPrices}</h3>
          <Tiles>
            {units.map(unit => (
              <Tile key={unit} label={catalogue().perUnit[unit]} value={money(of?.[unit])} />
            ))}
          </Tiles>
        </section>
      )}
    </>
  )
}

/** The models that answer if this one cannot, in order, with the reasons for which each is taken. */
const Fallbacks = ({ of }: { readonly of: NonNullable<Model['fallbacks']> }) => {
  const { reasons } = text().panel
  return (
    <ol>
      {of.map(({ model, on }) => (
        <li key={model}>
          <code class="said">{model}</code> <span class="note">{on.map(reason => reasons[reason]).join(', ')}</span>
        </li>
      ))}
    </ol>
  )
}

/** Address of the Start page with this model, and the key if one is chosen. */
function startAt({ id }: Model, key: string | undefined): string {
  const query = new URLSearchParams({ model: id, ...(key === undefined ? {} : { key }) })
  return `${hrefOf('/start')}?${query}`
}

function Abilities({ of }: { readonly of: Model }) {
  const words = text().panel
  const names = (all: readonly string[] | undefined): ComponentChildren =>
    all === undefined || all.length === 0 ? <Unknown /> : all.map(one => named('modalities', one)).join(', ')
  return (
    <Facts>
      <Fact label={words.context}>
        <Tokens count={of.context} />
      </Fact>
      <Fact label={words.output}>
        <Tokens count={of.max_output} />
      </Fact>
      <Fact label={words.abilities}>
        <Names all={abilitiesOf(of).map(one => named('abilities', one))} />
      </Fact>
      <Fact label={words.reads}>{names(of.input)}</Fact>
      <Fact label={words.writes}>{names(of.output)}</Fact>
      <Fact label={words.reasoning}>
        <YesNo value={of.reasoning} />
      </Fact>
      <Fact label={words.tools}>
        <YesNo value={of.tools} />
      </Fact>
    </Facts>
  )
}

const ItsChannels = ({ of, channels }: { readonly of: Model; readonly channels: Channels }) => {
  const words = text().panel.columns
  return (
    <div class="models-channels">
      <Table
        label={text().panel.channels}
        rows={of.channels}
        rowId={({ name }) => name}
        cards
        columns={[
          {
            ...{ id: 'channel', title: words.channel },
            cell: ({ name }) => <a href={`${hrefOf('/channels')}?${new URLSearchParams({ channel: name })}`}>{name}</a>,
          },
          { id: 'upstream', title: words.upstream, cell: one => <code class="said">{one.upstream_model}</code> },
          { id: 'state', title: words.state, cell: one => <StateBadge state={stateOf(one, channels)} /> },
          {
            ...{ id: 'errors', title: words.errors, number: true },
            cell: ({ name }) => {
              const channel = channels.get(name)
              return channel === undefined ? '–' : <ErrorRate of={channel.last_5_minutes} />
            },
          },
          {
            ...{ id: 'first', title: words.first, number: true },
            cell: ({ first_byte_ms: first }) => (first === undefined ? '–' : text().panel.milliseconds(number(first))),
          },
        ]}
      />
    </div>
  )
}

interface NamesProps {
  readonly all: readonly string[]
  readonly note?: string
  readonly tone?: Tone
}

const Names = ({ all, note, tone = 'neutral' }: NamesProps) =>
  all.length === 0 ? (
    <span class="faint">{common().none}</span>
  ) : (
    <>
      <span class="badges">
        {all.map(one => (
          <Badge key={one} tone={tone}>
            {one}
          </Badge>
        ))}
      </span>
      {note !== undefined && <span class="note">{note}</span>}
    </>
  )

const Unknown = () => <span class="faint">{common().unknown}</span>

const Tokens = ({ count }: { readonly count: number | undefined }) =>
  count === undefined ? <Unknown /> : <span>{text().panel.tokens(number(count))}</span>

const YesNo = ({ value }: { readonly value: boolean | undefined }) =>
  value === undefined ? <Unknown /> : <span>{value ? text().panel.yes : text().panel.no}</span>
