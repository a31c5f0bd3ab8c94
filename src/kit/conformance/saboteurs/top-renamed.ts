import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'top-renamed',
  says: 'The number of ranks is requested under another vendor’s field name.',
  cell: 'rerank.voyage-rerank.voyage/rerank-top/whole',
  caught: ['request.top-field', 'request.meaning:top'],
  request: body => rewritten(body, text => text.replace('"top_k"', '"top_n"')),
}
