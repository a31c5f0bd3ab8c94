import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'request-of-other-caller',
  says: 'The request of one of several callers at once is sent for another, too.',
  cell: 'contents-contents/callers-at-once/stream',
  caught: ['request.own-request', 'stream.own-answer'],
  request: body => rewritten(body, text => text.replace('caller3', 'caller4')),
}
