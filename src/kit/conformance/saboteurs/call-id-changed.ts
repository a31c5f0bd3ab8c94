import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'call-id-changed',
  says: 'The id of a call is changed.',
  cell: 'chat-chat/tool/whole',
  caught: ['answer.meaning:candidates[0].calls[0].id'],
  answer: answer => edited(answer, text => text.replace(/"id": "call_[^"]*"/, '"id": "call_other"')),
}
