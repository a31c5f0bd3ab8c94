import { FLAGS } from '../dialects/responses.ts'
import { modelFields, PROMPTED } from './model-field-lists.ts'
import { endpoint, type FormatRow, openai } from './row.ts'

const ENDPOINT = { takes: ['prompt'], headers: ['openai-beta'], query: ['beta'] }

export const responses: FormatRow = {
  name: { en: 'Responses' },
  upstream: { ...openai('conversation', 'completion', 'count', 'compaction', 'image'), singleImage: true },
  callers: ['conversation', 'compaction', 'image'],
  endpoints: [
    endpoint('/responses', 'input', ENDPOINT),
    endpoint('/responses/input_tokens', 'input', ENDPOINT),
    endpoint('/responses/compact', 'input', { ...ENDPOINT, takes: [] }),
  ],
  // Tools may also be in an input item, as sent by Codex, and in a namespace.
  modelFields: modelFields([
    ...PROMPTED,
    ...PROMPTED.filter(path => path.startsWith('tools.')).flatMap(path => [
      `tools.*.${path}`,
      `input.*.${path}`,
      `input.*.tools.*.${path}`,
    ]),
  ]),
  flags: FLAGS,
}
