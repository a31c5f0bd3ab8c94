import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'batch-model-dropped',
  says: 'The requests of a batch do not name their model.',
  cell: 'contents.embeddings-contents.embeddings/embeddings-inputs/whole',
  caught: ['request.model-in-requests'],
  request: body => rewritten(body, text => text.replace(/"model":"[^"]*",/g, '')),
}
