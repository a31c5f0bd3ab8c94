import { FLAGS } from '../dialects/embeddings.ts'
import { endpoint, type FormatRow, openai } from './row.ts'

export const embeddings: FormatRow = {
  upstream: { ...openai('embedding'), jointInputs: 'late_chunking' },
  callers: ['embedding'],
  endpoints: [endpoint('/embeddings', 'input')],
  flags: FLAGS,
}
