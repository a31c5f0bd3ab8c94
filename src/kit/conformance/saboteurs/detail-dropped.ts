import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'detail-dropped',
  says: 'The error message is in a different field.',
  cell: 'embeddings.jina-embeddings.jina/embeddings-error-400/whole',
  caught: ['error.schema'],
  answer: answer => edited(answer, text => text.replace('"detail":', '"reason":')),
}
