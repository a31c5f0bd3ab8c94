import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'candidate-indexes-equal',
  says: 'All candidates have the index 0.',
  cell: 'contents-contents/candidates/whole',
  caught: ['answer.candidate-index'],
  answer: answer => edited(answer, text => text.replace('"index": 1', '"index": 0')),
}
