import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'detail-dropped',
  says: 'The text of an error is in another field.',
  cell: 'embeddings.jina-embeddings.jina/embeddings-error-400/whole',
  caught: ['error.schema'],
  answer: answer => edited(answer, text => text.replace('"detail":', '"reason":')),
}
