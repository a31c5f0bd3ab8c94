import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'image-in-lines',
  says: 'The base64 of an image is broken into lines.',
  cell: 'messages-messages/image/whole',
  caught: ['request.meaning:turns[0].media[0].digest'],
  request: body => rewritten(body, text => text.replace(/"data":"[^"]{8}/, '$&\\n')),
}
