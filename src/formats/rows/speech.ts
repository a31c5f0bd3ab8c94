import { FLAGS } from '../dialects/speech.ts'
import { endpoint, type FormatRow, openai } from './row.ts'

export const speech: FormatRow = {
  upstream: openai('speech'),
  callers: ['speech'],
  endpoints: [endpoint('/audio/speech', 'input')],
  flags: FLAGS,
}
