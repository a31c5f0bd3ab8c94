import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'result-image-dropped',
  says: 'The image in a tool result is dropped.',
  cell: 'messages-messages/tool-result-image/whole',
  caught: ['request.meaning:turns[2].results[0].media[0].digest', 'request.meaning:turns[2].results[0].media[0].type'],
  request: body => rewritten(body, text => text.replace(/,\{"type":"image","source":\{.*?\}\}/, '')),
}
