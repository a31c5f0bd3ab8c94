import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'system-lines-joined',
  says: 'The lines of the system instructions become one line.',
  cell: 'chat-chat/system/whole',
  caught: ['request.meaning:system'],
  request: body => rewritten(body, text => text.replace('You are terse.\\n', 'You are terse. ')),
}
