import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'message-stop-missing',
  says: 'A stream ends without message_stop.',
  cell: 'messages-messages/text/stream',
  caught: ['stream.stop-last'],
  answer: answer =>
    edited(answer, text =>
      text
        .split('\n\n')
        .filter(event => !event.includes('"message_stop"'))
        .join('\n\n'),
    ),
}
