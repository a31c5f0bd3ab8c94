import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'video-length-dropped',
  says: 'The length of a video is dropped.',
  cell: 'videos-videos/videos/whole',
  caught: ['request.meaning:seconds'],
  request: body => rewritten(body, text => text.replace('"seconds":"8",', '')),
}
