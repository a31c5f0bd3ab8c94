import { FLAGS } from '../dialects/interactions.ts'
import { CONVERSATION_MODEL_FIELDS, modelFields } from './model-field-lists.ts'
import type { Endpoint, FormatRow } from './row.ts'

const BELOW = '/v1beta/interactions'

/**
 * Creates an endpoint marked by the previous interaction's id, which no other format has. `input` would also mark
 * requests in other formats.
 */
const endpoint = (path: string): Endpoint => ({
  path,
  below: BELOW,
  mark: 'previous_interaction_id',
  takes: ['input'],
  headers: ['api-revision'],
  query: ['alt'],
})

export const interactions: FormatRow = {
  name: { en: 'Interactions (Gemini)', zh: 'Interactions（Gemini）', short: 'Interactions' },
  upstream: {
    does: ['conversation', 'completion', 'image', 'speech'],
    versioned: 'path',
    auth: 'x-goog-api-key',
    listing: { path: '/v1beta/models', query: { pageSize: '1000' }, headers: {} },
    singleImage: true,
  },
  callers: ['conversation', 'image', 'speech'],
  endpoints: [endpoint(BELOW), endpoint('/v1/interactions')],
  otherPaths: /^\/v1(?:beta)?\/interactions\//,
  modelFields: modelFields([...CONVERSATION_MODEL_FIELDS, 'agent_config.model'], ['model', 'agent']),
  flags: FLAGS,
}
