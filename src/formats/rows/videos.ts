import { FLAGS } from '../dialects/videos.ts'
import { endpoint, type FormatRow, openai } from './row.ts'

export const videos: FormatRow = {
  name: { en: 'Videos', zh: 'Videos（视频）' },
  upstream: openai('video'),
  callers: ['video'],
  endpoints: [endpoint('/videos', 'prompt', { form: 'too' })],
  otherPaths: /^\/v1\/videos(?:\/|$)/,
  flags: FLAGS,
}
