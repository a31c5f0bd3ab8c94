import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'images-preview-repeated',
  says: 'Each partial image has the index 0.',
  cell: 'images-images/images-previews/stream',
  caught: ['stream.preview-index', 'answer.meaning:previews[1].index'],
  answer: answer => edited(answer, text => text.replace('"partial_image_index": 1', '"partial_image_index": 0')),
}
