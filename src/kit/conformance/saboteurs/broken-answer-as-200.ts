import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'broken-answer-as-200',
  says: 'Half of a whole answer is answered as if it were all of it.',
  cell: 'chat-chat/broken-answer/whole',
  caught: ['answer.broken.told'],
  answer: answer => ({ ...answer, isComplete: true }),
}
