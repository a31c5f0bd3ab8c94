import { rewrittenBytes, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'images-file-type-lost',
  says: 'The files of a form lose their content types.',
  cell: 'images-images/images-edit-form/whole',
  caught: [
    'request.file-type',
    'request.meaning:images[0].type',
    'request.meaning:images[1].type',
    'request.meaning:mask.type',
  ],
  request: body =>
    rewrittenBytes(body, text => text.replaceAll('Content-Type: image/png', 'Content-Type: application/octet-stream')),
}
