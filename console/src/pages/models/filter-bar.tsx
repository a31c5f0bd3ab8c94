import type { Model } from '../../api/types.ts'
import { named } from '../../i18n/catalogue.ts'
import { formatName } from '../../i18n/formats.ts'
import { Button } from '../../ui/button.tsx'
import { Check, Select } from '../../ui/field.tsx'
import { SearchBox } from '../../ui/search-box.tsx'
import { FACET_NAMES, type Facet, type Filters, valuesOf } from './filters.ts'
import { text } from './texts.ts'

/** Display name of a facet's value. */
const LABELS: { readonly [F in Facet]: (value: string) => string } = {
  interface: formatName,
  ability: value => named('abilities', value),
  channel: value => value,
  format: formatName,
}

interface FilterBarProps {
  readonly models: readonly Model[]
  readonly filters: Filters
  readonly onSearch: (search: string) => void
  /** Called with changed filters: facets by name, and `native`. An empty value removes the filter. */
  readonly onFilter: (changes: { readonly [name: string]: string }) => void
}

/** Search box and filters. Each filter offers the values that occur among the models. */
export function FilterBar({ models, filters, onSearch, onFilter }: FilterBarProps) {
  const isFiltered = FACET_NAMES.some(facet => (filters[facet] ?? '') !== '')
  return (
    <div class="models-filters">
      <SearchBox value={filters.search} onValue={onSearch} label={text().search} />
      {FACET_NAMES.map(facet => (
        <Select
          key={facet}
          label={text().filters[facet]}
          hideLabel
          value={filters[facet] ?? ''}
          onValue={value => onFilter({ [facet]: value })}
          options={optionsOf(models, facet, filters[facet])}
        />
      ))}
      {(filters.format ?? '') !== '' && (
        <Check
          label={text().filters.native}
          checked={filters.native}
          onValue={native => onFilter({ native: native ? '1' : '' })}
        />
      )}
      {isFiltered && (
        <Button
          kind="plain"
          icon="close"
          onClick={() => onFilter({ interface: '', ability: '', channel: '', format: '', native: '' })}
        >
          {text().filters.clear}
        </Button>
      )}
    </div>
  )
}

function optionsOf(models: readonly Model[], facet: Facet, chosen: string | undefined) {
  const values = valuesOf(models, facet)
  // A chosen value stays in the list even if no shown model has it, so that the user can see and remove it.
  const all = chosen === undefined || chosen === '' || values.includes(chosen) ? values : [...values, chosen]
  const options = all.map(value => ({ value, label: LABELS[facet](value) }))
  options.sort((one, other) => one.label.localeCompare(other.label))
  return [{ value: '', label: text().filters.any[facet] }, ...options]
}
