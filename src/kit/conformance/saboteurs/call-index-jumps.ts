import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'call-index-jumps',
  says: 'The index of the second call changes between its deltas.',
  cell: 'chat-chat/parallel-tools/stream',
  caught: [
    'stream.call-begins',
    'stream.call-index',
    'stream.arguments-are-text',
    'answer.meaning:candidates[0].calls[1].id',
    'answer.meaning:candidates[0].calls[1].name',
    'answer.meaning:candidates[0].calls[1].arguments',
    'answer.meaning:candidates[0].calls[2].id',
    'answer.meaning:candidates[0].calls[2].name',
    'answer.meaning:candidates[0].calls[2].arguments',
  ],
  answer: answer => edited(answer, text => text.replace(/("tool_calls": \[\{"index": )1/g, '$12')),
}
