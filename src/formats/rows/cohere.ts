import { FLAGS } from '../dialects/cohere.ts'
import type { FormatRow } from './row.ts'

export const cohere: FormatRow = {
  name: { en: 'Cohere' },
  upstream: {
    does: ['ranking', 'embedding'],
    versioned: 'path',
    auth: 'bearer',
    listing: { path: '/v1/models', query: { page_size: '1000' }, headers: {} },
  },
  callers: ['ranking', 'embedding'],
  endpoints: [
    { path: '/v2/rerank', below: '/v2/rerank', mark: 'documents', headers: [] },
    { path: '/v2/embed', below: '/v2/embed', mark: 'input_type', headers: [] },
    { path: '/v1/embed', below: '/v1/embed', mark: 'input_type', headers: [] },
  ],
  otherPaths: /^\/v2\//,
  flags: FLAGS,
}
