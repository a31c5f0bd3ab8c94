import type { FormatRow } from './row.ts'

export const deepgram: FormatRow = {
  name: { en: 'Deepgram' },
  upstream: { does: ['transcription'], versioned: 'path', auth: 'token' },
}
