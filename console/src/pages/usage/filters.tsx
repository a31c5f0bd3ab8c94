import { useState } from 'preact/hooks'
import { get } from '../../api/request.ts'
import type { Usage } from '../../api/types.ts'
import { useLoad } from '../../api/use-load.ts'
import { number } from '../../format.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Select } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { matches, SearchBox } from '../../ui/search-box.tsx'
import { Loaded } from '../../ui/states.tsx'
import { FIELDS, type Field, nameOf, valueIn, type Where } from './fields.ts'
import { loadValues, pathOf, spanOf } from './load.ts'
import type { Range } from './ranges.ts'
import { text } from './texts.ts'

interface FiltersProps {
  readonly where: Where
  readonly range: Range
  readonly onWhere: (where: Where) => void
}

const without = (where: Where, field: Field): Where =>
  Object.fromEntries(Object.entries(where).filter(([name]) => name !== field)) as Where

/** Active filters, each with a button that removes it. */
export function Filters({ where, range, onWhere }: FiltersProps) {
  const words = text()
  const all = Object.entries(where) as [Field, string][]
  if (all.length === 0) return null
  return (
    <div class="chips" role="group" aria-label={words.filters}>
      {all.map(([field, value]) => (
        <span key={field} class="chip">
          <span class="faint">{words.fields[field]}</span>
          <span class="cut">{field === 'key' ? <KeyName id={value} range={range} /> : value || words.none}</span>
          <button
            type="button"
            aria-label={words.removeFilter(words.fields[field])}
            onClick={() => onWhere(without(where, field))}
          >
            <Icon name="close" size={14} />
          </button>
        </span>
      ))}
      <Button kind="plain" small onClick={() => onWhere({})}>
        {words.clear}
      </Button>
    </div>
  )
}

/** Name of a key with requests in the range. Otherwise its id. */
function KeyName({ id, range }: { readonly id: string; readonly range: Range }) {
  const { data } = useLoad(
    signal => get<Usage>(pathOf('/usage', { ...spanOf(range), by: 'key', limit: 1 }, { key: id }), undefined, signal),
    [id, range.since],
  )
  return <>{id === '' ? text().none : (data?.data[0]?.key_name ?? id)}</>
}

interface AddFilterProps extends FiltersProps {
  readonly onClose: () => void
}

/** Number of values shown at once. Searching finds the others. */
const SHOWN = 100

/** Dialog that adds a filter: a field and one of its values in the range. */
export function AddFilter({ where, range, onWhere, onClose }: AddFilterProps) {
  const words = text()
  const [field, setField] = useState<Field>(FIELDS.find(one => where[one] === undefined) ?? 'model')
  const [search, setSearch] = useState('')
  const others = without(where, field)
  const values = useLoad(signal => loadValues(range, field, others, signal), [field])
  return (
    <Dialog title={words.addFilter} onClose={onClose}>
      <Select<Field>
        label={words.field}
        value={field}
        onValue={setField}
        options={FIELDS.map(value => ({ value, label: words.fields[value] }))}
        data-autofocus
      />
      <SearchBox value={search} onValue={setSearch} label={words.findValue} />
      <Loaded of={values}>
        {all => {
          const found = all.filter(one => matches(search, nameOf(one, field), one[field]))
          if (found.length === 0) return <p class="faint">{words.noValues}</p>
          return (
            <ul class="values" aria-label={words.values}>
              {found.slice(0, SHOWN).map(one => (
                <li key={valueIn(one, field)}>
                  <button
                    type="button"
                    onClick={() => {
                      onWhere({ ...others, [field]: valueIn(one, field) })
                      onClose()
                    }}
                  >
                    <span class="cut">{nameOf(one, field)}</span>
                    <span class="faint number">{number(one.requests)}</span>
                  </button>
                </li>
              ))}
            </ul>
          )
        }}
      </Loaded>
    </Dialog>
  )
}
