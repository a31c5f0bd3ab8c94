import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'images-address-decoded',
  says: 'The signature in the URL of an image is decoded.',
  cell: 'images-images/images-url/whole',
  caught: ['answer.meaning:images[0].address'],
  answer: answer => edited(answer, text => text.replace('%2F', '/')),
}
