import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'last-model-wrong',
  says: 'last_id of a page is not the id of its last model.',
  cell: 'messages.models-messages.models/models-list/whole',
  caught: ['answer.pages'],
  answer: answer => edited(answer, text => text.replace('"last_id": "kit-three"', '"last_id": "kit-two"')),
}
