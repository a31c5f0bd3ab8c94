import { CREATED, type ModelCard } from '../../canonical/model-card.ts'
import { type ModelEntry, modelListText } from '../transport/json.ts'
import type { ModelWriter } from '../writer.ts'

const entry = ({ id }: ModelCard): ModelEntry => ({ id, object: 'model', created: CREATED, owned_by: 'interlingua' })

/** Models as OpenAI lists them (FORMATS §1); there are no pages. */
export const models: ModelWriter = {
  list: cards => modelListText({ object: 'list', data: cards.map(entry) }),
  record: card => ({ ...entry(card) }),
}
