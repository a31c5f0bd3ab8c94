import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'video-progress-lost',
  says: 'The progress of a video is always 0.',
  cell: 'videos-videos/videos-progress/whole',
  caught: ['step-2.answer.meaning:progress', 'step-3.answer.meaning:progress'],
  answer: answer => edited(answer, text => text.replace(/"progress": \d+/, '"progress": 0')),
}
