import { VOICE_FLAGS } from '../dialects/shared-flags.ts'
import type { FormatRow } from './row.ts'

export const elevenlabs: FormatRow = {
  name: { en: 'ElevenLabs' },
  upstream: { does: ['speech', 'transcription'], versioned: 'path', auth: 'xi-api-key' },
  flags: VOICE_FLAGS,
}
