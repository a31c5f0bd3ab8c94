import { FLAGS } from '../dialects/transcriptions.ts'
import { endpoint, type FormatRow, openai } from './row.ts'

export const transcriptions: FormatRow = {
  upstream: openai('transcription'),
  callers: ['transcription'],
  endpoints: [
    endpoint('/audio/transcriptions', 'file', { form: 'only' }),
    endpoint('/audio/translations', 'file', { form: 'only' }),
  ],
  flags: FLAGS,
}
