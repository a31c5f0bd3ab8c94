import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'thoughts-hidden',
  says: 'The wish to see the thoughts is dropped.',
  cell: 'contents-contents/reasoning-budget/whole',
  caught: ['request.meaning:shownThoughts'],
  request: body => rewritten(body, text => text.replace(/"includeThoughts":true,?/, '')),
}
