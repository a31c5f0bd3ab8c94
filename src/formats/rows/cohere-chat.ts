import { FLAGS } from '../dialects/cohere-chat.ts'
import { CONVERSATION_MODEL_FIELDS, modelFields } from './model-field-lists.ts'
import type { FormatRow } from './row.ts'

export const cohereChat: FormatRow = {
  name: { en: 'Cohere Chat' },
  upstream: {
    does: ['conversation', 'completion'],
    versioned: 'path',
    auth: 'bearer',
    listing: { path: '/v1/models', query: { page_size: '1000', endpoint: 'chat' }, headers: {} },
  },
  callers: ['conversation'],
  endpoints: [{ path: '/v2/chat', below: '/v2/chat', mark: 'messages', headers: [] }],
  modelFields: modelFields(CONVERSATION_MODEL_FIELDS),
  flags: FLAGS,
}
