import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'images-form-as-text',
  says: 'The bytes of a form are decoded as UTF-8 and encoded again.',
  cell: 'images-images/images-edit-form/whole',
  caught: [
    'request.file-type',
    'request.meaning:images[0].digest',
    'request.meaning:images[1].digest',
    'request.meaning:mask.digest',
  ],
  request: body => rewritten(body, text => text),
}
