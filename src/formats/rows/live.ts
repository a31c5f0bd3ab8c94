import { FLAGS } from '../dialects/live.ts'
import type { FormatRow } from './row.ts'

export const live: FormatRow = {
  name: { en: 'Live (Gemini)', zh: 'Live（Gemini）', short: 'Live' },
  upstream: { does: ['realtime'], versioned: 'path', auth: 'x-goog-api-key' },
  flags: FLAGS,
}
