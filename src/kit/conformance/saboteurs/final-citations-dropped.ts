import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'final-citations-dropped',
  says: 'The final event lacks the citations.',
  cell: 'responses-responses/citations/stream',
  caught: ['stream.final-repeats'],
  answer: answer =>
    edited(answer, text =>
      text.replace(/"type": "response\.completed".*/, event =>
        event.replace(/"annotations": \[[^\]]*\]/, '"annotations": []'),
      ),
    ),
}
