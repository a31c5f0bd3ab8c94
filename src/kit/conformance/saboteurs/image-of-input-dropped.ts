import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'image-of-input-dropped',
  says: 'The image of an input is dropped, while its text stays.',
  cell: 'cohere.embeddings-cohere.embeddings/embeddings-text-and-image/whole',
  caught: ['request.meaning:inputs[0].media[0].digest', 'request.meaning:inputs[0].media[0].type'],
  request: body => rewritten(body, text => text.replace(/,\{"type":"image_url".*?\}\}/, '')),
}
