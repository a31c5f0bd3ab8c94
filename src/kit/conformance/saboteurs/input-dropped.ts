import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'input-dropped',
  says: 'The last of several texts is dropped.',
  cell: 'cohere.embeddings-cohere.embeddings/embeddings-inputs/whole',
  caught: ['request.meaning:inputs[2].text'],
  request: body => rewritten(body, text => text.replace(/,"The third text[^"]*"/, '')),
}
