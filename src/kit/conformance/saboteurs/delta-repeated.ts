import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'delta-repeated',
  says: 'A text delta arrives twice.',
  cell: 'messages-messages/text/stream',
  caught: ['answer.meaning:candidates[0].text'],
  answer: answer =>
    edited(answer, text => text.replace(/event: content_block_delta\n[^\n]*\n\n/, event => event + event)),
}
