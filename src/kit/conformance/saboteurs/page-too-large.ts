import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'page-too-large',
  says: 'A page has more models than requested.',
  cell: 'contents.models-contents.models/models-pages/whole',
  caught: ['answer.meaning:models[0]', 'answer.pages', 'step-2.answer.meaning:models[0]', 'step-2.answer.pages'],
  answer: answer => edited(answer, text => text.replace('"models": [', '"models": [{ "name": "models/kit-zero" },')),
}
