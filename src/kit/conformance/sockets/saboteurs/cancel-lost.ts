import { type SessionSaboteur, where } from './saboteur.ts'

export const saboteur: SessionSaboteur = {
  name: 'cancel-lost',
  says: 'A cancellation does not reach the upstream.',
  cell: 'realtime-realtime/cancelled/session',
  caught: [
    'request.meaning:sequence',
    'answer.meaning:responses[0].finish',
    'answer.meaning:responses[0].usage.input',
    'answer.meaning:responses[0].usage.output',
    'answer.meaning:truncated[0]',
    'answer.socket.awaited',
    'request.meaning:cancels',
    'request.meaning:truncations[0]',
    'stream.response.done',
  ],
  meddling: () => ({ client: where('response.cancel', () => []) }),
}
