import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'input-json-dropped',
  says: 'The arguments of a streamed call are dropped.',
  cell: 'messages-messages/tool/stream',
  caught: ['answer.meaning:candidates[0].calls[0].arguments'],
  answer: answer =>
    edited(answer, text =>
      text
        .split('\n\n')
        .filter(event => !event.includes('input_json_delta'))
        .join('\n\n'),
    ),
}
