import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'image-changed',
  says: 'The bytes of an image are changed.',
  cell: 'messages-messages/image/whole',
  caught: ['request.meaning:turns[0].media[0].digest'],
  request: body => rewritten(body, text => text.replace('iVBORw0KGgo', 'iVBORw0KGgp')),
}
