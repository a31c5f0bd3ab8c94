import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'images-usage-dropped',
  says: 'The usage of an image is dropped.',
  cell: 'images-images/images/whole',
  caught: ['answer.meaning:usage.input', 'answer.meaning:usage.output'],
  answer: answer => edited(answer, text => text.replace('"usage"', '"used"')),
}
