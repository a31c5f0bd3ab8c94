import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'model-ids-repeated',
  says: 'Every model in a list has the id of the first.',
  cell: 'chat.models-chat.models/models-list/whole',
  caught: ['answer.ids', 'answer.meaning:models[1]', 'answer.meaning:models[2]'],
  answer: answer => edited(answer, text => text.replace(/"id": "[^"]*"/g, '"id": "kit-one"')),
}
