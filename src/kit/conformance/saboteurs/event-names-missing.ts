import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'event-names-missing',
  says: 'Events have no names.',
  cell: 'messages-messages/text/stream',
  caught: ['stream.event-name'],
  answer: answer => edited(answer, text => text.replace(/^event: .*\n/gm, '')),
}
