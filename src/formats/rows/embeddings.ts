import { FLAGS } from '../dialects/embeddings.ts'
import { endpoint, type FormatRow, openai } from './row.ts'

export const embeddings: FormatRow = {
  name: { en: 'Embeddings', zh: 'Embeddings（向量）' },
  upstream: { ...openai('embedding'), jointInputs: 'late_chunking' },
  callers: ['embedding'],
  endpoints: [endpoint('/embeddings', 'input', { headers: ['user-agent'] })],
  flags: FLAGS,
}
