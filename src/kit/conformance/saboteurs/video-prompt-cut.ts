import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'video-prompt-cut',
  says: 'The prompt of a video is truncated.',
  cell: 'videos-videos/videos/whole',
  caught: ['request.meaning:prompt'],
  request: body => rewritten(body, text => text.replace(', 東京 in the rain', '')),
}
