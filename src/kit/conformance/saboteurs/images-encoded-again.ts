import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'images-encoded-again',
  says: 'An image is re-encoded in the same file format.',
  cell: 'images-images/images/whole',
  caught: ['answer.meaning:images[0].digest'],
  answer: answer => edited(answer, text => text.replace('nGP4y8CAFWEX', 'nGP4y8CAFWEY')),
}
