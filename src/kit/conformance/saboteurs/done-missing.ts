import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'done-missing',
  says: 'The stream ends without [DONE].',
  cell: 'chat-chat/text/stream',
  caught: ['stream.done'],
  answer: answer => edited(answer, text => text.replace('data: [DONE]\n\n', '')),
}
