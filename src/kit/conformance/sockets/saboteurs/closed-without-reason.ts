import type { SessionSaboteur } from './saboteur.ts'

export const saboteur: SessionSaboteur = {
  name: 'closed-without-reason',
  says: 'The connection is cut in the middle of a response.',
  cell: 'realtime-realtime/text-turn/session',
  caught: [
    'answer.meaning:responses[0].finish',
    'answer.meaning:responses[0].text',
    'answer.meaning:responses[0].usage.cacheRead',
    'answer.meaning:responses[0].usage.input',
    'answer.meaning:responses[0].usage.output',
    'answer.socket.awaited',
    'stream.close',
    'stream.response.done',
  ],
  meddling: () => ({
    server: text => (text.includes('response.output_text.delta') ? 'terminate' : [text]),
  }),
}
