import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'arguments-changed',
  says: 'An argument of a call is changed.',
  cell: 'contents-contents/tool/whole',
  caught: ['answer.meaning:candidates[0].calls[0].arguments'],
  answer: answer => edited(answer, text => text.replaceAll('"Paris"', '"Lyon"')),
}
