import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'final-text-differs',
  says: 'The final text differs from the sum of its deltas.',
  cell: 'responses-responses/text/stream',
  caught: ['stream.done-repeats'],
  answer: answer =>
    edited(answer, text => text.replace(/("type": "response.output_text.done"[^\n]*"text": ")[^"]*"/, '$1another"')),
}
