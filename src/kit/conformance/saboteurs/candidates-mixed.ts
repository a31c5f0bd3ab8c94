import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'candidates-mixed',
  says: 'The deltas of both candidates have the index of the first one.',
  cell: 'chat-chat/candidates/stream',
  caught: [
    'answer.meaning:candidates[0].text',
    'answer.meaning:candidates[1].finish',
    'answer.meaning:candidates[1].text',
  ],
  answer: answer => edited(answer, text => text.replaceAll('"index": 1,', '"index": 0,')),
}
