import { FLAGS } from '../dialects/rerank.ts'
import { endpoint, type FormatRow, openai } from './row.ts'

export const rerank: FormatRow = {
  name: { en: 'Rerank', zh: 'Rerank（重排序）' },
  upstream: openai('ranking'),
  callers: ['ranking'],
  endpoints: [endpoint('/rerank', 'documents', { headers: ['x-fern-sdk-name', 'user-agent'] })],
  flags: FLAGS,
}
