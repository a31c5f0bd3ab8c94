import type { FormatRow } from './row.ts'

export const deepgram: FormatRow = { upstream: { does: ['transcription'], versioned: 'path', auth: 'token' } }
