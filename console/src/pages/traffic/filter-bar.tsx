import type { Channel, Key, Model } from '../../api/types.ts'
import { time } from '../../format.ts'
import { Button } from '../../ui/button.tsx'
import { Select } from '../../ui/field.tsx'
import { Bar } from '../../ui/page.tsx'
import { SearchBox } from '../../ui/search-box.tsx'
import { type Filters, ONLY, type Only } from './rows.ts'
import { text } from './texts.ts'

interface FilterBarProps {
  readonly filters: Filters
  readonly search: string
  readonly onChange: (next: Partial<Filters>) => void
  readonly onSearch: (search: string) => void
  readonly keys: readonly Key[]
  readonly models: readonly Model[]
  readonly channels: readonly Channel[]
}

const NOTHING: Filters = { only: '', key: '', model: '', channel: '', format: '', since: '', until: '' }

/** Search box and filters of the request list. */
export function FilterBar({ filters, search, onChange, onSearch, keys, models, channels }: FilterBarProps) {
  const words = text().filters
  const { only, key, model, channel, since, until } = filters
  const names: { readonly [O in Only]: string } = {
    ...{ '': words.all, errors: words.errors, losses: words.losses, captured: words.captured },
  }
  const isFiltered = Object.values(filters).some(value => value !== '')
  return (
    <div class="traffic-bar">
      <Bar>
        <SearchBox value={search} onValue={onSearch} label={text().search} />
        <Select
          label={words.only}
          hideLabel
          value={only}
          onValue={next => onChange({ only: next })}
          options={ONLY.map(value => ({ value, label: names[value] }))}
        />
        <Choice
          label={words.key}
          any={words.anyKey}
          value={key}
          values={keys.map(({ id, name }) => ({ value: id, label: name }))}
          onValue={next => onChange({ key: next })}
        />
        <Choice
          label={words.model}
          any={words.anyModel}
          value={model}
          values={models.map(({ id }) => ({ value: id, label: id }))}
          onValue={next => onChange({ model: next })}
        />
        <Choice
          label={words.channel}
          any={words.anyChannel}
          value={channel}
          values={channels.map(({ name }) => ({ value: name, label: name }))}
          onValue={next => onChange({ channel: next })}
        />
        {(since !== '' || until !== '') && (
          <span class="badge accent">{words.range(since && time(since), until && time(until))}</span>
        )}
        {isFiltered && (
          <Button kind="plain" icon="close" onClick={() => onChange(NOTHING)}>
            {words.clear}
          </Button>
        )}
      </Bar>
    </div>
  )
}

interface ChoiceProps {
  readonly label: string
  readonly any: string
  readonly value: string
  readonly values: readonly { readonly value: string; readonly label: string }[]
  readonly onValue: (value: string) => void
}

/** Select with “any” and the known values. A value from a link that is not among them is added. */
const Choice = ({ label, any, value, values, onValue }: ChoiceProps) => (
  <Select
    label={label}
    hideLabel
    value={value}
    onValue={onValue}
    options={[
      { value: '', label: any },
      ...(value === '' || values.some(one => one.value === value) ? [] : [{ value, label: value }]),
      ...values,
    ]}
  />
)
