import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'output-index-wrong',
  says: 'The deltas of an item have a different output_index.',
  cell: 'responses-responses/text/stream',
  caught: ['stream.item-index', 'stream.done-repeats', 'answer.meaning:candidates[0].text'],
  answer: answer =>
    edited(answer, text => text.replace(/("type": "response.output_text.delta"[^\n]*"output_index": )0/g, '$11')),
}
