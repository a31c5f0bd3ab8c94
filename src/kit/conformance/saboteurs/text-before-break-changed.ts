import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'text-before-break-changed',
  says: 'The text before an error event is changed.',
  cell: 'responses-responses/stream-error-event/stream',
  caught: ['stream.broken.beginning'],
  answer: answer => edited(answer, text => text.replace('"delta": "The', '"delta": "A')),
}
