import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'image-invented',
  says: 'The answer has its image twice.',
  cell: 'images-images/images/whole',
  caught: ['answer.meaning:images[1].digest'],
  answer: answer => edited(answer, text => text.replace(/("data": \[)(\s*\{[^}]*\})/, '$1$2,$2')),
}
