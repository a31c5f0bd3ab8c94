import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'models-in-other-format',
  says: 'A list of models has the fields of another format.',
  cell: 'messages.models-messages.models/models-list/whole',
  caught: ['answer.schema'],
  answer: answer => edited(answer, text => text.replace('"has_more": false', '"object": "list"')),
}
