import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'system-as-user',
  says: 'The system instructions become a user message.',
  cell: 'chat-chat/system/whole',
  caught: ['request.meaning:system', 'request.meaning:turns[0].text'],
  request: body => rewritten(body, text => text.replace('"role":"system"', '"role":"user"')),
}
