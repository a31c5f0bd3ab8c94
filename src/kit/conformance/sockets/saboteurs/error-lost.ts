import { type SessionSaboteur, where } from './saboteur.ts'

export const saboteur: SessionSaboteur = {
  name: 'error-lost',
  says: 'An error of the upstream does not arrive.',
  cell: 'realtime-realtime/error/session',
  caught: [
    'request.meaning:sequence',
    'answer.meaning:errors[0].code',
    'answer.meaning:errors[0].message',
    'answer.meaning:errors[0].type',
    'answer.meaning:responses[0].finish',
    'answer.meaning:responses[0].text',
    'answer.meaning:responses[0].usage.input',
    'answer.meaning:responses[0].usage.output',
    'answer.socket.awaited',
    'request.meaning:asks[0].asked',
    'request.meaning:items[0].role',
    'request.meaning:items[0].text',
  ],
  meddling: () => ({ server: where('error', () => []) }),
}
