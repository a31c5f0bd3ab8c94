import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'model-other',
  says: 'The record of another model is returned.',
  cell: 'chat.models-chat.models/models-one/whole',
  caught: ['step-2.answer.meaning:models[0]', 'step-2.answer.same-model'],
  answer: answer => edited(answer, text => (text.includes('"data"') ? text : text.replace('kit-one', 'kit-two'))),
}
