import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'sampling-filled-in',
  says: 'A default temperature is added although the version of the request refuses it.',
  cell: 'messages-messages/text/whole',
  specs: { messages: '2026-10-21' },
  caught: ['request.version-fields'],
  request: body => rewritten(body, text => text.replace(/^\{/, '{"temperature":1,')),
}
