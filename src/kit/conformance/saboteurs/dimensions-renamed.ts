import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'dimensions-renamed',
  says: 'The number of dimensions is requested under another vendor’s field name.',
  cell: 'embeddings.voyage-embeddings.voyage/embeddings-dimensions/whole',
  caught: ['request.own-fields', 'request.meaning:dimensions'],
  request: body => rewritten(body, text => text.replace('"output_dimension"', '"dimensions"')),
}
