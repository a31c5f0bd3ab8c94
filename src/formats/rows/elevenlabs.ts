import { FLAGS } from '../dialects/elevenlabs.ts'
import type { FormatRow } from './row.ts'

export const elevenlabs: FormatRow = {
  upstream: { does: ['speech', 'transcription'], versioned: 'path', auth: 'xi-api-key' },
  flags: FLAGS,
}
