import type { SessionSaboteur } from './saboteur.ts'

export const saboteur: SessionSaboteur = {
  name: 'close-code-changed',
  says: 'The close of an expired session looks like a normal one.',
  cell: 'realtime-realtime/server-ends/session',
  caught: ['answer.meaning:close.code', 'answer.meaning:close.reason'],
  meddling: () => ({ closing: () => ({ code: 1000, reason: '' }) }),
}
