import { FLAGS } from '../dialects/chat.ts'
import { modelFields, PROMPT_MODEL_FIELDS } from './model-field-lists.ts'
import { endpoint, type FormatRow, openai } from './row.ts'

export const chat: FormatRow = {
  name: { en: 'Chat Completions', short: 'Chat' },
  upstream: {
    ...openai('conversation', 'completion', 'transcription'),
    usageOnDemand: { stream_options: { include_usage: true } },
  },
  callers: ['conversation', 'image', 'speech'],
  endpoints: [endpoint('/chat/completions', 'messages', { headers: ['openai-beta', 'user-agent'] })],
  modelFields: modelFields(PROMPT_MODEL_FIELDS),
  flags: FLAGS,
}
