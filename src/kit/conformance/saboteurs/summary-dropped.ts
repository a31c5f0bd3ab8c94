import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'summary-dropped',
  says: 'The wish for a summary of the reasoning is dropped.',
  cell: 'responses-responses/reasoning-signature/whole',
  caught: ['request.meaning:summary'],
  request: body => rewritten(body, text => text.replace(/,?"summary":"[a-z]+"/, '')),
}
