import { FLAGS } from '../dialects/transcriptions.ts'
import { endpoint, type FormatRow, openai } from './row.ts'

export const transcriptions: FormatRow = {
  name: { en: 'Transcriptions', zh: 'Transcriptions（转写）' },
  upstream: openai('transcription'),
  callers: ['transcription'],
  endpoints: [
    endpoint('/audio/transcriptions', 'file', { form: 'only' }),
    endpoint('/audio/translations', 'file', { form: 'only' }),
  ],
  flags: FLAGS,
}
