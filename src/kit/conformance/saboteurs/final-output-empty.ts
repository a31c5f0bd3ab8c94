import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'final-output-empty',
  says: 'The final event of a responses stream has no output.',
  cell: 'responses-responses/text/stream',
  caught: ['stream.final-repeats'],
  answer: answer =>
    edited(answer, text => text.replace(/("type": "response\.completed".*?"output": )\[.*\](, "parallel)/, '$1[]$2')),
}
