import type { Model } from '../../api/types.ts'
import { matches } from '../../ui/search-box.tsx'
import { abilitiesOf } from './abilities.ts'

/** Filterable properties: each function returns a model's values. */
export const FACETS = {
  interface: (model: Model): readonly string[] => (model.interface === undefined ? [] : [model.interface]),
  ability: abilitiesOf,
  channel: (model: Model): readonly string[] => model.channels.map(({ name }) => name),
  format: (model: Model): readonly string[] => [...model.native, ...model.translated],
} as const

export type Facet = keyof typeof FACETS
export const FACET_NAMES = Object.keys(FACETS) as readonly Facet[]

/** Search text and filters of the model list. */
export type Filters = { readonly [F in Facet]?: string | undefined } & {
  readonly search: string
  /** Whether to keep only models that a channel serves in the chosen format without translation. */
  readonly native: boolean
}

/** Models that match the search and all filters. */
export function narrowed(models: readonly Model[], filters: Filters): readonly Model[] {
  const given = FACET_NAMES.filter(facet => (filters[facet] ?? '') !== '')
  return models.filter(
    model =>
      given.every(facet => FACETS[facet](model).includes(filters[facet]!)) &&
      !(filters.native && filters.format && !model.native.includes(filters.format)) &&
      matches(filters.search, model.id, model.name, model.description, ...FACETS.channel(model)),
  )
}

/** Distinct values of a facet among the models, in order of first occurrence. */
export const valuesOf = (models: readonly Model[], facet: Facet): readonly string[] => [
  ...new Set(models.flatMap(model => FACETS[facet](model))),
]
