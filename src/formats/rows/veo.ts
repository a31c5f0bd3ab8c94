import type { FormatRow } from './row.ts'

export const veo: FormatRow = {
  name: { en: 'Veo' },
  upstream: { does: ['video'], versioned: 'path', auth: 'x-goog-api-key' },
}
