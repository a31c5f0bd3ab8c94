import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'later-system-as-user',
  says: 'A system instruction between turns becomes a user message.',
  cell: 'responses-responses/system-later/whole',
  caught: [
    'request.meaning:turns[2].role',
    'request.meaning:turns[2].text',
    'request.meaning:turns[3].role',
    'request.meaning:turns[3].text',
  ],
  request: body => rewritten(body, text => text.replace('"role":"developer"', '"role":"user"')),
}
