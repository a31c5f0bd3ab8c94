import { MODEL_CREATED_AT, type ModelCard } from '../../canonical/model-card.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { tokenPage } from '../transport/model-pages.ts'
import type { ModelWriter } from '../writer.ts'
import { withoutGeography } from './path.ts'

const PAGE_PARAMETERS = { size: ['maxResults'], token: ['nextToken'] } as const

/**
 * Lists models as Bedrock inference profiles, from which Claude Code chooses
 * (docs/wire/converse.md#inference-profiles). All of them are system-defined, so none has the type `APPLICATION`.
 */
export const models: ModelWriter = {
  list: (cards, query) => {
    const type = query['type'] ?? SYSTEM_TYPE
    const { rows, next } = tokenPage(type === SYSTEM_TYPE ? cards : [], query, PAGE_PARAMETERS)
    return JSON.stringify({
      inferenceProfileSummaries: rows.map(record),
      ...(next === undefined ? {} : { nextToken: next }),
    })
  },
  record: card => record(card),
}

const SYSTEM_TYPE = 'SYSTEM_DEFINED'
/** Formats Unix seconds as ISO 8601. */
const timeOf = (seconds: number): string => new Date(seconds * 1000).toISOString()
const PROFILE_ARN = 'arn:aws:bedrock:us-east-1:000000000000:inference-profile/'
const MODEL_ARN = 'arn:aws:bedrock:us-east-1::foundation-model/'

const record = ({ id, name, description }: ModelCard): JsonObject => ({
  ...{ inferenceProfileId: id, inferenceProfileName: name ?? id, inferenceProfileArn: `${PROFILE_ARN}${id}` },
  ...(description === undefined ? {} : { description }),
  models: [{ modelArn: `${MODEL_ARN}${withoutGeography(id)}` }],
  ...{ createdAt: timeOf(MODEL_CREATED_AT), updatedAt: timeOf(MODEL_CREATED_AT), status: 'ACTIVE', type: SYSTEM_TYPE },
})
