import type { Model } from '../../api/types.ts'
import { matches } from '../../ui/search-box.tsx'
import { abilitiesOf } from './abilities.ts'

/** What a list of models can be narrowed by: the values that a model has there. */
export const FACETS = {
  interface: (model: Model): readonly string[] => (model.interface === undefined ? [] : [model.interface]),
  ability: abilitiesOf,
  channel: (model: Model): readonly string[] => model.channels.map(({ name }) => name),
  format: (model: Model): readonly string[] => [...model.native, ...model.translated],
} as const

export type Facet = keyof typeof FACETS
export const FACET_NAMES = Object.keys(FACETS) as readonly Facet[]

export type Filters = { readonly [F in Facet]?: string | undefined } & {
  readonly search: string
  /** Of the format, only those whose channels speak it. */
  readonly native: boolean
}

/** The models that a search and all filters leave. */
export function narrowed(models: readonly Model[], filters: Filters): readonly Model[] {
  const given = FACET_NAMES.filter(facet => (filters[facet] ?? '') !== '')
  return models.filter(
    model =>
      given.every(facet => FACETS[facet](model).includes(filters[facet]!)) &&
      !(filters.native && filters.format && !model.native.includes(filters.format)) &&
      matches(filters.search, model.id, model.name, model.description, ...FACETS.channel(model)),
  )
}

/** The values of one facet that any of the models has, in the order in which they first occur. */
export const valuesOf = (models: readonly Model[], facet: Facet): readonly string[] => [
  ...new Set(models.flatMap(model => FACETS[facet](model))),
]
