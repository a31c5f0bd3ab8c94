import type { ModelAbilities, ModelCard } from '../../canonical/model-card.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { tokenPage } from '../transport/model-pages.ts'
import type { ModelWriter } from '../writer.ts'

const PAGE_PARAMETERS = { size: ['page_size'], token: ['page_token'] } as const

/**
 * Lists models as Cohere does, limited to one endpoint if the client requests it (docs/wire/cohere-chat.md#model-list).
 * `default_only` gives an empty list, because the gateway has no default models.
 */
export const models: ModelWriter = {
  list: (cards, query) => {
    const { endpoint } = query
    const listedCards =
      endpoint === undefined ? cards : cards.filter(card => endpointsOf(card.abilities).includes(endpoint))
    const { rows, next } = tokenPage(query['default_only'] === 'true' ? [] : listedCards, query, PAGE_PARAMETERS)
    return JSON.stringify({ models: rows.map(record), ...(next === undefined ? {} : { next_page_token: next }) })
  },
  record: card => record(card),
}

const record = ({ id, context, abilities }: ModelCard): JsonObject => ({
  ...{ name: id, is_deprecated: false, endpoints: endpointsOf(abilities), finetuned: false },
  ...(context === undefined ? {} : { context_length: context }),
  default_endpoints: [],
})

const endpointsOf = ({ converses, embeds, ranks }: ModelAbilities): readonly string[] => [
  ...(converses ? ['chat'] : []),
  ...(embeds ? ['embed'] : []),
  ...(ranks ? ['rerank'] : []),
]
