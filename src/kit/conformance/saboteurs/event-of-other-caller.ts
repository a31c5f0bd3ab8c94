import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'event-of-other-caller',
  says: 'The stream of one of several callers at once has an event of the stream of another.',
  cell: 'messages-messages/callers-at-once/stream',
  caught: ['stream.own-answer'],
  answer: answer => edited(answer, text => text.replace(/(?<=Köln, an caller)1/, '2')),
}
