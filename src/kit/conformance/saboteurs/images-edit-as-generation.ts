import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'images-edit-as-generation',
  says: 'The events of an image edit have the names of generation events.',
  cell: 'images-images/images-edit-previews/stream',
  caught: ['stream.schema'],
  answer: answer => edited(answer, text => text.replaceAll('image_edit.', 'image_generation.')),
}
