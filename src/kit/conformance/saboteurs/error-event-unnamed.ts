import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'error-event-unnamed',
  says: 'The error of a stream has no name, so that clients overlook it.',
  cell: 'messages-messages/stream-error-event/stream',
  caught: ['stream.broken.told', 'stream.error-event', 'stream.event-name'],
  answer: answer => edited(answer, text => text.replace('event: error\n', '')),
}
