import { first, type SessionSaboteur, within } from './saboteur.ts'

export const saboteur: SessionSaboteur = {
  name: 'usage-lost',
  says: 'A response has no usage.',
  cell: 'realtime-realtime/text-turn/session',
  caught: [
    'answer.meaning:responses[0].usage.cacheRead',
    'answer.meaning:responses[0].usage.input',
    'answer.meaning:responses[0].usage.output',
  ],
  meddling: () => ({ server: first('response.done', data => [within(data, 'response', { usage: null })]) }),
}
