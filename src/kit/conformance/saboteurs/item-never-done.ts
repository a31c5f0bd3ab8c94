import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'item-never-done',
  says: 'An item is never done.',
  cell: 'responses-responses/text/stream',
  caught: ['stream.sequence', 'stream.item-index', 'stream.final-repeats'],
  answer: answer =>
    edited(answer, text =>
      text
        .split('\n\n')
        .filter(event => !event.includes('event: response.output_item.done'))
        .join('\n\n'),
    ),
}
