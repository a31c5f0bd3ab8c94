import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'message-start-missing',
  says: 'A stream does not begin with message_start.',
  cell: 'messages-messages/text/stream',
  caught: ['stream.start-first'],
  answer: answer =>
    edited(answer, text =>
      text
        .split('\n\n')
        .filter(event => !event.includes('"message_start"'))
        .join('\n\n'),
    ),
}
