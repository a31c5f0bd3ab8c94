import { type Saboteur, withoutField } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'video-image-dropped',
  says: 'The image that a video begins with is dropped from its form.',
  cell: 'videos-videos/videos-form/whole',
  caught: ['request.meaning:reference.type', 'request.meaning:reference.digest'],
  request: body => withoutField(body, 'input_reference'),
}
