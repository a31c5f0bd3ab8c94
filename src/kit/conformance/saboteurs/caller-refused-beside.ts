import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'caller-refused-beside',
  says: 'One of several callers at once gets an error, although its upstream has answered.',
  cell: 'messages-messages/callers-at-once/whole',
  caught: ['answer.same-status'],
  answer: answer => (answer.body.includes('caller2') ? { ...answer, status: 503 } : answer),
}
