import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'image-of-other-caller',
  says: 'The request of one of several agents at once has the image of another.',
  cell: 'messages-messages/callers-at-once-tools/stream',
  caught: ['request.own-request', 'step-2.request.own-request'],
  request: body => rewritten(body, text => text.replace(/(?<=gAIcaller)4/, '2')),
}
