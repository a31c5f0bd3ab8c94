import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'count-without-system',
  says: 'System instructions are not counted.',
  cell: 'responses.tokens-responses.tokens/tokens-system/whole',
  caught: ['request.meaning:system'],
  request: body => rewritten(body, text => text.replace(/"instructions":"[^"]*",/, '')),
}
