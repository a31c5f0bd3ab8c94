import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'store-dropped',
  says: 'The wish that nothing is stored is dropped.',
  cell: 'responses-responses/reasoning-budget/whole',
  caught: ['request.meaning:store'],
  request: body => rewritten(body, text => text.replace(/,?"store":false/, '')),
}
