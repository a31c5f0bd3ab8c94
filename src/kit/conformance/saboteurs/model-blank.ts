import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'model-blank',
  says: 'The model of the request is an empty text.',
  cell: 'chat-chat/text/whole',
  caught: ['request.names-model'],
  request: body => rewritten(body, text => text.replace(/"model":"[^"]*"/, '"model":""')),
}
