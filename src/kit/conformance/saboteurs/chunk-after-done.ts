import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'chunk-after-done',
  says: 'A chunk follows the end of the stream.',
  cell: 'chat-chat/text/stream',
  caught: ['stream.done'],
  answer: answer => edited(answer, text => text.replace(/(data: [^\n]*\n\n)([\s\S]*)/, '$1$2$1')),
}
