import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'broken-answer-as-200',
  says: 'The first half of an interrupted answer is returned as if it were complete.',
  cell: 'chat-chat/broken-answer/whole',
  caught: ['answer.broken.told'],
  answer: answer => ({ ...answer, isComplete: true }),
}
