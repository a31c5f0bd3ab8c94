import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'vector-index-zero',
  says: 'Every vector has the index 0.',
  cell: 'embeddings.jina-embeddings.jina/embeddings-inputs/whole',
  caught: ['answer.index'],
  answer: answer => edited(answer, text => text.replace(/"index": \d/g, '"index": 0')),
}
