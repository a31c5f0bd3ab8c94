import type { FormatRow } from './row.ts'

export const veo: FormatRow = { upstream: { does: ['video'], versioned: 'path', auth: 'x-goog-api-key' } }
