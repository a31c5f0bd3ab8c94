import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'completion-as-chat',
  says: 'The chunks of a completion have chat deltas.',
  cell: 'completions-completions/completion-text/stream',
  caught: ['stream.schema', 'stream.text', 'answer.meaning:candidates[0].text'],
  answer: answer => edited(answer, text => text.replace(/"text":("[^"]*")/g, '"delta":{"content":$1}')),
}
