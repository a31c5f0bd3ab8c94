import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'call-type-unknown',
  says: 'A call has an unknown type: neither function nor free-form.',
  cell: 'chat-chat/tool-free-form/stream',
  caught: ['answer.meaning:candidates[0].calls[0].arguments', 'stream.arguments-are-text', 'stream.call-begins'],
  answer: answer => edited(answer, text => text.replace('"type": "custom"', '"type": "tool"')),
}
