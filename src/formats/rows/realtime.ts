import { FLAGS } from '../dialects/realtime.ts'
import { type FormatRow, openai } from './row.ts'

export const realtime: FormatRow = {
  name: { en: 'Realtime', zh: 'Realtime（实时语音）' },
  upstream: openai('realtime'),
  callers: ['realtime'],
  modelFields: {
    requested: ['session|response.model'],
    others: ['session|response.tools.*.model', 'session|response.prompt.model'],
    helpers: ['session|response.audio.input.transcription.model', 'session|response.input_audio_transcription.model'],
  },
  flags: FLAGS,
}
