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
 * Lists models as OpenAI does, without pages (docs/wire/common.md#model-lists). The serializer is loaded on the first
 * request.
 */
export const models: ModelWriter = {
  list: async cards => (await import('./model-list.ts')).modelListText({ object: 'list', data: cards.map(entry) }),
  record: card => ({ ...entry(card) }),
}
