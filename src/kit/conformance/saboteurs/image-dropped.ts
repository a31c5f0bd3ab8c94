import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'image-dropped',
  says: 'An image is dropped.',
  cell: 'contents-contents/image/whole',
  caught: [
    'request.meaning:turns[0].media[0].type',
    'request.meaning:turns[0].order',
    'request.meaning:turns[0].media[0].digest',
  ],
  request: body => rewritten(body, text => text.replace(/,\{"inlineData":\{[^}]*\}\}/, '')),
}
