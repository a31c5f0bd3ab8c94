import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'broken-answer-ended',
  says: 'The body of an interrupted answer ends as if it were complete.',
  cell: 'messages-messages/broken-answer/stream',
  caught: ['stream.broken.told'],
  answer: answer => ({ ...answer, isComplete: true }),
}
