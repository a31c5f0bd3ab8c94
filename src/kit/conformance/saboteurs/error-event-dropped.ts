import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'error-event-dropped',
  says: 'An error event of a stream is dropped.',
  cell: 'contents-contents/stream-error-event/stream',
  caught: ['stream.broken.told'],
  answer: answer => edited(answer, text => text.replace(/data: \{"error".*(\r\n){2}/, '')),
}
