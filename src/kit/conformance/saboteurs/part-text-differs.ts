import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'part-text-differs',
  says: 'The event that ends a part has another text than its deltas.',
  cell: 'responses-responses/text/stream',
  caught: ['stream.done-repeats'],
  answer: answer =>
    edited(answer, text =>
      text.replace(/"type": "response\.content_part\.done".*/, event => event.replace(/"text": "/, '$&Other. ')),
    ),
}
