import { FLAGS } from '../dialects/speech.ts'
import { endpoint, type FormatRow, openai } from './row.ts'

export const speech: FormatRow = {
  name: { en: 'Speech', zh: 'Speech（语音合成）' },
  upstream: openai('speech'),
  callers: ['speech'],
  endpoints: [endpoint('/audio/speech', 'input')],
  flags: FLAGS,
}
