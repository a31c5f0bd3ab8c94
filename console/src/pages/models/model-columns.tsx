import type { Model } from '../../api/types.ts'
import { TONES } from '../../catalogue/channel-state.tsx'
import { hasTokenPrice, pricedUnits, UnitPrice } from '../../catalogue/unit-price.tsx'
import { money, number } from '../../format.ts'
import { catalogue, named } from '../../i18n/catalogue.ts'
import { common } from '../../i18n/common.ts'
import { formatName } from '../../i18n/formats.ts'
import { Badge } from '../../ui/badge.tsx'
import type { Column } from '../../ui/table.tsx'
import { abilitiesOf } from './abilities.ts'
import { bestState, type Channels, okCount, stateOf } from './model-channels.ts'
import { text } from './texts.ts'

/** Columns of the model list. */
export function modelColumns(channels: Channels, onOpen: (model: Model) => void): readonly Column<Model>[] {
  const words = text().columns
  return [
    {
      ...{ id: 'model', title: words.model, sort: model => model.id },
      cell: model => <NameCell of={model} onOpen={() => onOpen(model)} />,
    },
    {
      ...{ id: 'interface', title: words.interface, sort: ({ interface: spoken }) => spoken && formatName(spoken) },
      cell: model => <InterfaceCell of={model} />,
    },
    { id: 'abilities', title: words.abilities, wide: true, cell: model => <AbilitiesCell of={model} /> },
    {
      ...{ id: 'context', title: words.context, number: true, sort: model => model.context },
      cell: ({ context, max_output }) => <Pair values={[context, max_output]} show={tokens} />,
    },
    {
      ...{ id: 'price', title: words.price, number: true, sort: model => model.price?.input },
      cell: ({ price }) => <PriceCell of={price} />,
    },
    {
      ...{ id: 'channels', title: words.channels, sort: model => model.channels.length },
      cell: model => <ChannelsCell of={model} channels={channels} />,
    },
  ]
}

interface OfModel {
  readonly of: Model
}

const NameCell = ({ of: { id, name }, onOpen }: OfModel & { readonly onOpen: () => void }) => (
  <span class="two-lines">
    <button type="button" class="opener cut said" onClick={onOpen} aria-label={text().open(id)} title={id}>
      {id}
    </button>
    {name !== undefined && name !== id && <span class="note cut said">{name}</span>}
  </span>
)

const InterfaceCell = ({ of: { interface: spoken, native, translated } }: OfModel) => (
  <span class="two-lines">
    <span>{spoken === undefined ? <Unknown /> : formatName(spoken)}</span>
    <span class="note cut">{text().formats(native.length, translated.length)}</span>
  </span>
)

/** Number of abilities shown by name. The rest is shown as a count. */
const SHOWN = 2

function AbilitiesCell({ of }: OfModel) {
  const all = abilitiesOf(of).map(one => named('abilities', one))
  return (
    <span class="models-abilities" title={all.join(', ')}>
      {all.slice(0, SHOWN).map(one => (
        <Badge key={one}>{one}</Badge>
      ))}
      {all.length > SHOWN && <span class="note">{text().more(all.length - SHOWN)}</span>}
    </span>
  )
}

function ChannelsCell({ of, channels }: OfModel & { readonly channels: Channels }) {
  const words = text().channels
  const [first, ...others] = of.channels
  const state = bestState(of, channels)
  if (first === undefined || state === undefined) return <span class="faint">{words.none}</span>
  const ok = okCount(of, channels)
  const all = of.channels.length
  const isAll = ok === all
  const alone = all === 1 ? catalogue().states[state] : words.some(ok, all)
  return (
    <span
      class="two-lines"
      title={of.channels.map(one => `${one.name}: ${catalogue().states[stateOf(one, channels)]}`).join('\n')}
    >
      <span class="models-channel">
        <span class="cut">{first.name}</span>
        {others.length > 0 && <span class="faint">{text().more(others.length)}</span>}
      </span>
      <span class={`models-state ${TONES[state]}`}>
        <span class="dot" />
        {isAll && all > 1 ? words.all : alone}
      </span>
    </span>
  )
}

const PriceCell = ({ of }: { readonly of: Model['price'] }) =>
  hasTokenPrice(of) || pricedUnits(of).length === 0 ? (
    <Pair values={[of?.input, of?.output]} show={money} />
  ) : (
    <UnitPrice of={of!} />
  )

const Unknown = () => <span class="faint">{common().unknown}</span>

const tokens = (count: number): string => number(count, { short: true })

interface PairProps {
  readonly values: readonly [number | undefined, number | undefined]
  readonly show: (value: number) => string
}

/** Two values such as `200k / 64k`. A single “unknown” if both are unknown. */
function Pair({ values, show }: PairProps) {
  if (values.every(value => value === undefined)) return <Unknown />
  const [one, other] = values.map(value => (value === undefined ? common().unknown : show(value)))
  return (
    <span>
      {one} <span class="faint">/</span> {other}
    </span>
  )
}
