import type { SessionSaboteur } from './saboteur.ts'

export const saboteur: SessionSaboteur = {
  name: 'call-id-changed',
  says: 'The id of a call is changed.',
  cell: 'realtime-realtime/function-call/session',
  caught: ['answer.meaning:responses[0].calls[0].id'],
  meddling: () => ({
    server: text => [text.replaceAll('"call_1"', '"call_9"')],
    client: text => [text.replaceAll('"call_9"', '"call_1"')],
  }),
}
