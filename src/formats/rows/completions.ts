import { FLAGS } from '../dialects/completions.ts'
import { CONVERSATION, modelFields } from './model-field-lists.ts'
import { endpoint, type FormatRow, openai } from './row.ts'

export const completions: FormatRow = {
  name: { en: 'Completions', zh: 'Completions（文本补全）' },
  upstream: openai('completion'),
  callers: ['completion'],
  endpoints: [endpoint('/completions', 'prompt')],
  modelFields: modelFields(CONVERSATION),
  flags: FLAGS,
}
