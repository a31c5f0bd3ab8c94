import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'ranks-repeated',
  says: 'Two ranks refer to the same document.',
  cell: 'rerank.voyage-rerank.voyage/rerank-ties/whole',
  caught: ['answer.index', 'answer.meaning:ranks[1].document'],
  answer: answer => edited(answer, text => text.replace('"index": 2', '"index": 0')),
}
