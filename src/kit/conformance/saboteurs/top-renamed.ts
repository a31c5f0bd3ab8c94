import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'top-renamed',
  says: 'The number of ranks has the name that another vendor gives it.',
  cell: 'rerank.voyage-rerank.voyage/rerank-top/whole',
  caught: ['request.top-field', 'request.meaning:top'],
  request: body => rewritten(body, text => text.replace('"top_k"', '"top_n"')),
}
