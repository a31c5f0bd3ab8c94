import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'result-image-changed',
  says: 'The bytes of an image in a tool result are changed.',
  cell: 'contents-contents/tool-result-image/whole',
  caught: ['request.meaning:turns[2].results[0].media[0].digest'],
  request: body => rewritten(body, text => text.replace('iVBORw0KGgo', 'iVBORw0KGgp')),
}
