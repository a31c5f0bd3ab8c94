import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'images-count-dropped',
  says: 'The number of images is dropped.',
  cell: 'images-images/images-several/whole',
  caught: ['request.meaning:settings.count'],
  request: body => rewritten(body, text => text.replace(/,"n":2/, '')),
}
