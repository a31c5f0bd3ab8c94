import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'marker-lifetime-dropped',
  says: 'A cache marker of an hour lasts five minutes.',
  cell: 'messages-messages/cache-tool-result/whole',
  caught: ['request.meaning:cacheMarks'],
  request: body => rewritten(body, text => text.replace(/,"ttl":"1h"/, '')),
}
