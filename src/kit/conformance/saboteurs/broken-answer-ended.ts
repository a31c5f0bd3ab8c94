import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'broken-answer-ended',
  says: 'The body of an answer that broke off ends as if it were whole.',
  cell: 'messages-messages/broken-answer/stream',
  caught: ['stream.broken.told'],
  answer: answer => ({ ...answer, isComplete: true }),
}
