import { first, type SessionSaboteur } from './saboteur.ts'

export const saboteur: SessionSaboteur = {
  name: 'response-done-missing',
  says: 'A response has no response.done.',
  cell: 'realtime-realtime/text-turn/session',
  caught: [
    'answer.meaning:responses[0].finish',
    'answer.meaning:responses[0].usage.cacheRead',
    'answer.meaning:responses[0].usage.input',
    'answer.meaning:responses[0].usage.output',
    'answer.socket.awaited',
    'stream.response.done',
  ],
  meddling: () => ({ server: first('response.done', () => []) }),
}
