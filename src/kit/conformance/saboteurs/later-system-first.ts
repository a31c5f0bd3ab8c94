import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'later-system-first',
  says: 'A system instruction between turns moves to the beginning.',
  cell: 'chat-chat/system-later/whole',
  caught: [
    'request.meaning:system',
    'request.meaning:turns[2].role',
    'request.meaning:turns[2].text',
    'request.meaning:turns[3].role',
    'request.meaning:turns[3].text',
  ],
  request: body => rewritten(body, text => text.replace(/(\[)(.*)(\{"role":"system".*?\}),/, '$1$3,$2')),
}
