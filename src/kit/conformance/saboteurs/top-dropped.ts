import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'top-dropped',
  says: 'The requested number of ranks is dropped.',
  cell: 'rerank.cohere-rerank.cohere/rerank-top/whole',
  caught: ['request.meaning:top'],
  request: body => rewritten(body, text => text.replace(',"top_n":2', '')),
}
