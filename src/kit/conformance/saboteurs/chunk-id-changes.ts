import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'chunk-id-changes',
  says: 'The last chunks have a different id.',
  cell: 'chat-chat/text/stream',
  caught: ['stream.one-id'],
  answer: answer =>
    edited(answer, text => text.replace(/("id": ")[^"]*(",[^\n]*"finish_reason": "stop")/, '$1chatcmpl-other$2')),
}
