import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'contents-image-lost',
  says: 'The second image to edit is lost.',
  cell: 'contents.images-contents.images/images-edit-two/whole',
  caught: ['request.meaning:images[1].type', 'request.meaning:images[1].digest'],
  request: body =>
    rewritten(body, text => text.replace(/,\{"inlineData":\{"mimeType":"image\/png","data":"[^"]+"\}\}\]/, ']')),
}
