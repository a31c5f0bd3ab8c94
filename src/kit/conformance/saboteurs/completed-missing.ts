import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'completed-missing',
  says: 'A stream ends without response.completed.',
  cell: 'responses-responses/text/stream',
  caught: [
    'stream.final-last',
    'answer.meaning:candidates[0].finish',
    'answer.meaning:usage.input',
    'answer.meaning:usage.output',
  ],
  answer: answer =>
    edited(answer, text =>
      text
        .split('\n\n')
        .filter(event => !event.includes('event: response.completed'))
        .join('\n\n'),
    ),
}
