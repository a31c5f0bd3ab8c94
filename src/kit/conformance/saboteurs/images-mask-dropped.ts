import { type Saboteur, withoutField } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'images-mask-dropped',
  says: 'The mask of a form is dropped.',
  cell: 'images-images/images-edit-form/whole',
  caught: ['request.meaning:mask.type', 'request.meaning:mask.digest'],
  request: body => withoutField(body, 'mask'),
}
