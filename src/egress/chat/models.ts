import { MODEL_CREATED_AT, type ModelCard } from '../../canonical/model-card.ts'
import type { ModelWriter } from '../writer.ts'
import type { ModelEntry } from './model-list.ts'

const entry = ({ id }: ModelCard): ModelEntry => ({
  id,
  object: 'model',
  created: MODEL_CREATED_AT,
  owned_by: 'interlingua',
})

/**
 * Lists models as OpenAI does (docs/wire/common.md#model-lists), without pages. The serializer is loaded for the first
 * list.
 */
export const models: ModelWriter = {
  list: async cards => (await import('./model-list.ts')).modelListText({ object: 'list', data: cards.map(entry) }),
  record: card => ({ ...entry(card) }),
}
