import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'images-format-wrong',
  says: 'output_format does not match the file format of the bytes.',
  cell: 'images-images/images/whole',
  caught: ['answer.image-is-format', 'answer.meaning:made.format'],
  answer: answer => edited(answer, text => text.replace('"output_format": "png"', '"output_format": "webp"')),
}
