import { FLAGS } from '../dialects/completions.ts'
import { CONVERSATION_MODEL_FIELDS, modelFields } from './model-field-lists.ts'
import { endpoint, type FormatRow, openai } from './row.ts'

export const completions: FormatRow = {
  name: { en: 'Completions', zh: 'Completions（文本补全）' },
  upstream: openai('completion'),
  callers: ['completion'],
  endpoints: [endpoint('/completions', 'prompt')],
  modelFields: modelFields(CONVERSATION_MODEL_FIELDS),
  flags: FLAGS,
}
