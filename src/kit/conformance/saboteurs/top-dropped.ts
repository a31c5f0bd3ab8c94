import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'top-dropped',
  says: 'The number of ranks is not passed on.',
  cell: 'rerank.cohere-rerank.cohere/rerank-top/whole',
  caught: ['request.meaning:top'],
  request: body => rewritten(body, text => text.replace(',"top_n":2', '')),
}
