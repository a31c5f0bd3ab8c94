import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'deltas-swapped',
  says: 'Two text deltas are swapped.',
  cell: 'chat-chat/text/stream',
  caught: ['answer.meaning:candidates[0].text'],
  answer: answer =>
    edited(answer, text => text.replace('"Grüße"', '"X"').replace('"東京"', '"Grüße"').replace('"X"', '"東京"')),
}
