import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'block-index-jumps',
  says: 'All block indexes after the first are one too high.',
  cell: 'messages-messages/parallel-tools/stream',
  caught: ['stream.block-index'],
  answer: answer =>
    edited(answer, text => text.replace(/"index": 2/g, '"index": 3').replace(/"index": 1/g, '"index": 2')),
}
