import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'contents-modality-dropped',
  says: 'The requested image modality is dropped.',
  cell: 'contents.images-contents.images/images-edit-two/whole',
  caught: ['request.modality'],
  request: body => rewritten(body, text => text.replace('"responseModalities":["IMAGE"]', '')),
}
