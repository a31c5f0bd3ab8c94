import type { SessionSaboteur } from './saboteur.ts'

export const saboteur: SessionSaboteur = {
  name: 'interruption-hidden',
  says: 'An interrupted response looks complete.',
  cell: 'realtime-realtime/interrupted/session',
  caught: ['answer.meaning:responses[0].finish'],
  meddling: () => ({
    server: text => [text.replace('"status":"cancelled"', '"status":"completed"')],
  }),
}
