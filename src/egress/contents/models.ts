import type { ModelAbilities, ModelCard } from '../../canonical/model-card.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { tokenPage } from '../transport/model-pages.ts'
import type { ModelWriter } from '../writer.ts'

/** Lists models as Google does (docs/wire/contents.md#model-list). */
export const models: ModelWriter = {
  list: (cards, query) => {
    const { rows, next } = tokenPage(cards, query)
    return JSON.stringify({ models: rows.map(record), ...(next === undefined ? {} : { nextPageToken: next }) })
  },
  record: card => record(card),
}

const record = ({ id, name, description, context, maxOutput, abilities }: ModelCard): JsonObject => ({
  name: `models/${id}`,
  baseModelId: id,
  version: '001',
  displayName: name ?? id,
  ...(description === undefined ? {} : { description }),
  ...(context === undefined ? {} : { inputTokenLimit: context }),
  ...(maxOutput === undefined ? {} : { outputTokenLimit: maxOutput }),
  supportedGenerationMethods: methodsOf(abilities),
})

/** Returns the methods that a model supports. Tokens can be counted for every model, if only as an estimate. */
const methodsOf = ({ converses, draws, speaks, embeds }: ModelAbilities): readonly string[] => [
  ...(converses || draws || speaks ? ['generateContent', 'streamGenerateContent'] : []),
  ...(embeds ? ['embedContent', 'batchEmbedContents'] : []),
  'countTokens',
]
