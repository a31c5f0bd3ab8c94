import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'length-as-stop',
  says: 'An answer that hit the token limit ends as if it were complete.',
  cell: 'chat-chat/finish-length/stream',
  caught: ['answer.meaning:candidates[0].finish'],
  answer: answer => edited(answer, text => text.replace('"finish_reason": "length"', '"finish_reason": "stop"')),
}
