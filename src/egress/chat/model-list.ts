import fastJson from 'fast-json-stringify'

/** One model in the list. */
export interface ModelEntry {
  readonly id: string
  readonly object: 'model'
  /** Time of creation, in Unix seconds. */
  readonly created: number
  readonly owned_by: string
}

const ENTRY = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    object: { type: 'string' },
    created: { type: 'integer' },
    owned_by: { type: 'string' },
  },
} as const

/**
 * Serializes the list of models with a compiled schema, because most clients poll the list and it may have hundreds of
 * entries.
 */
export const modelListText: (list: { readonly object: 'list'; readonly data: readonly ModelEntry[] }) => string =
  fastJson({
    type: 'object',
    properties: { object: { type: 'string' }, data: { type: 'array', items: ENTRY } },
  })
