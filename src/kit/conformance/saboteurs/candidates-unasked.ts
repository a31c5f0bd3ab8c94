import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'candidates-unasked',
  says: 'Only one candidate is requested instead of two.',
  cell: 'chat-chat/candidates/whole',
  caught: ['request.meaning:settings.candidates'],
  request: body => rewritten(body, text => text.replace(/"n":2,?/, '')),
}
