import { FLAGS } from '../dialects/live.ts'
import type { FormatRow } from './row.ts'

export const live: FormatRow = {
  upstream: { does: ['realtime'], versioned: 'path', auth: 'x-goog-api-key' },
  flags: FLAGS,
}
