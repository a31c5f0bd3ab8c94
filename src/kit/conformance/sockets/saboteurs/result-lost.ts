import type { SessionSaboteur } from './saboteur.ts'

export const saboteur: SessionSaboteur = {
  name: 'result-lost',
  says: 'The output of a call does not reach the upstream.',
  cell: 'realtime-realtime/parallel-calls/session',
  caught: [
    'request.meaning:items[2].result.answers',
    'request.meaning:items[2].result.text',
    'request.meaning:items[2].role',
  ],
  meddling: () => ({
    client: text => (text.includes('"call_2"') ? [] : [text]),
  }),
}
