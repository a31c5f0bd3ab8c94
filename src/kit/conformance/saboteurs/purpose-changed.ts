import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'purpose-changed',
  says: 'A query is embedded as a document.',
  cell: 'cohere.embeddings-cohere.embeddings/embeddings-query/whole',
  caught: ['request.meaning:purpose'],
  request: body => rewritten(body, text => text.replace('search_query', 'search_document')),
}
