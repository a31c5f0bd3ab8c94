import { FLAGS } from '../dialects/responses.ts'
import { modelFields, PROMPT_MODEL_FIELDS } from './model-field-lists.ts'
import { endpoint, type FormatRow, openai } from './row.ts'

const ENDPOINT_FACTS = { takes: ['prompt'], headers: ['openai-beta'], query: ['beta'] }

export const responses: FormatRow = {
  name: { en: 'Responses' },
  upstream: { ...openai('conversation', 'completion', 'count', 'compaction', 'image'), singleImage: true },
  callers: ['conversation', 'compaction', 'image'],
  endpoints: [
    endpoint('/responses', 'input', ENDPOINT_FACTS),
    endpoint('/responses/input_tokens', 'input', ENDPOINT_FACTS),
    endpoint('/responses/compact', 'input', { ...ENDPOINT_FACTS, takes: [] }),
  ],
  // Tools may also be in an input item, as sent by Codex, and in a namespace.
  modelFields: modelFields([
    ...PROMPT_MODEL_FIELDS,
    ...PROMPT_MODEL_FIELDS.filter(path => path.startsWith('tools.')).flatMap(path => [
      `tools.*.${path}`,
      `input.*.${path}`,
      `input.*.tools.*.${path}`,
    ]),
  ]),
  flags: FLAGS,
}
