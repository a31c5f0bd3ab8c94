import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'image-address-changed',
  says: 'The URL of an image is changed.',
  cell: 'chat-chat/image-url/whole',
  caught: ['request.meaning:turns[0].media[0].address'],
  request: body => rewritten(body, text => text.replace('kit.example/dot', 'kit.example/spot')),
}
