import { useState } from 'preact/hooks'
import type { Key, Model } from '../../api/types.ts'
import { hasTokenPrice, UnitPrice } from '../../catalogue/unit-price.tsx'
import { money, number } from '../../format.ts'
import { freshKey } from '../../fresh-key.ts'
import { hrefOf } from '../../href.ts'
import { formatName } from '../../i18n/formats.ts'
import { useShortcut } from '../../keyboard.ts'
import { isAdmin } from '../../session-state.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Combobox } from '../../ui/combobox.tsx'
import { Copy } from '../../ui/copy.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { Card } from '../../ui/page.tsx'
import { Problem } from '../../ui/states.tsx'
import { MissingChannels, MissingKey, MissingModels } from './missing.tsx'
import { NewKeyDialog } from './new-key.tsx'
import { SecretShown } from './secret-shown.tsx'
import { text } from './texts.ts'
import type { Connection } from './use-connection.ts'

/** Card to choose address, key and model. */
export function ConnectionCard({ of }: { readonly of: Connection }) {
  const { about, keys, models, key, model, secret } = of
  const [isMaking, setMaking] = useState(false)
  const words = text()
  useShortcut('n', isAdmin.value ? openLater(setMaking) : NOTHING, isAdmin.value ? words.makeKey : undefined)
  const talking = models.data?.talking
  const hasNoKey = keys.data?.length === 0
  return (
    <Card
      title={words.connect}
      actions={
        isAdmin.value &&
        !hasNoKey && (
          <Button small icon="plus" onClick={() => setMaking(true)}>
            {words.makeKey}
          </Button>
        )
      }
    >
      {[about, keys, models].map(
        ({ error, reload }, at) => error && <Problem key={at} error={error} onRetry={reload} />,
      )}
      <div class="connect">
        <Address of={of} />
        <Combobox
          label={words.key}
          value={key?.id}
          onValue={of.setKey}
          options={(keys.data ?? []).map(keyOption)}
          placeholder={hasNoKey ? words.noKeys : words.keyPlaceholder}
          nothing={words.noKeyFound}
          more={words.more}
          disabled={keys.data === undefined || hasNoKey}
          hint={
            key && <a href={`${hrefOf('/keys')}?group=${encodeURIComponent(key.group)}`}>{words.groupOf(key.group)}</a>
          }
        />
        <Combobox
          label={words.model}
          value={model?.id}
          onValue={of.setModel}
          options={(talking ?? []).map(modelOption)}
          placeholder={words.modelPlaceholder}
          nothing={words.noModelFound}
          more={words.more}
          disabled={talking === undefined || talking.length === 0}
          search
          hint={models.data && <ModelCount of={models.data} />}
        />
      </div>
      {model && <Facts of={model} />}
      {hasNoKey && <MissingKey onMake={() => setMaking(true)} />}
      {talking?.length === 0 && (about.data?.status.channels === 0 ? <MissingChannels /> : <MissingModels />)}
      {key && secret !== undefined && (
        <SecretShown name={key.name} secret={secret} onHide={() => (freshKey.value = undefined)} />
      )}
      {isMaking && (
        <NewKeyDialog
          onClose={() => setMaking(false)}
          onMade={async made => {
            await of.made(made)
            setMaking(false)
          }}
        />
      )}
    </Card>
  )
}

const NOTHING = (): void => {}

/** Opening functions by their setter. A stable function keeps `useShortcut` from registering again on every render. */
const openers = new WeakMap<(open: boolean) => void, () => void>()
function openLater(set: (open: boolean) => void): () => void {
  const own = openers.get(set) ?? (() => set(true))
  openers.set(set, own)
  return own
}

function Address({ of: { addresses, base, setBase } }: { readonly of: Connection }) {
  const words = text()
  return (
    <div class="address">
      {addresses.length > 1 ? (
        <Select
          label={words.address}
          value={base}
          onValue={setBase}
          options={addresses.map(value => ({ value, label: value }))}
          hint={words.addressHint}
        />
      ) : (
        <Field label={words.address} value={base} onValue={NOTHING} {...READ_ONLY} hint={words.addressHint} />
      )}
      <Copy text={base} what={words.copyAddress} bare />
    </div>
  )
}

const READ_ONLY = { readOnly: true } as object

const keyOption = ({ id, name, group }: Key) => ({ value: id, label: name, note: group })
const modelOption = ({ id, interface: spoken }: Model) => ({ value: id, label: id, note: spoken })

function ModelCount({ of: { key, talking, others } }: { readonly of: NonNullable<Connection['models']['data']> }) {
  const words = text()
  return (
    <>
      {(key === undefined ? words.allModels : words.models)(talking.length)}
      {others > 0 && (
        <>
          {' · '}
          <a href={hrefOf('/models')}>{words.others(others)}</a>
        </>
      )}
    </>
  )
}

const TONES = {
  ok: 'good',
  failing: 'bad',
  resting: 'warn',
  full: 'warn',
  drained: 'neutral',
  unusable: 'bad',
} as const

/** One line with the facts about a model. */
function Facts({ of: { interface: spoken, context, max_output, price, channels } }: { readonly of: Model }) {
  const words = text()
  const { facts } = words
  const tokens = (count: number): string => facts.tokens(number(count, { short: true }))
  const rows: readonly (readonly [string, preact.ComponentChildren])[] = [
    [facts.interface, spoken && <Badge tone="accent">{formatName(spoken)}</Badge>],
    [facts.context, context === undefined ? undefined : tokens(context)],
    [facts.output, max_output === undefined ? undefined : tokens(max_output)],
    [
      hasTokenPrice(price) ? facts.price : facts.unitPrice,
      price &&
        (hasTokenPrice(price) ? (
          <span title={facts.perMillion}>
            {money(price.input)} / {money(price.output)}
          </span>
        ) : (
          <UnitPrice of={price} />
        )),
    ],
    [
      facts.channels,
      channels.map(({ name, state }) => (
        <Badge key={name} tone={TONES[state]} dot title={words.states[state]}>
          {name}
        </Badge>
      )),
    ],
  ]
  return (
    <dl class="model-facts">
      {rows
        .filter(([, value]) => value !== undefined && value !== '')
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}
