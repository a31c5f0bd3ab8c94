import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'choice-indexes-equal',
  says: 'All choices have the index 0.',
  cell: 'chat-chat/candidates/whole',
  caught: ['answer.choice-index'],
  answer: answer => edited(answer, text => text.replace('"index": 1', '"index": 0')),
}
