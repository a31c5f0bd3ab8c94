import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'video-failed-silently',
  says: 'The error of a failed video is dropped.',
  cell: 'videos-videos/videos-failed/whole',
  caught: ['step-2.answer.error-fits', 'step-2.answer.meaning:error.code', 'step-2.answer.meaning:error.message'],
  answer: answer => edited(answer, text => text.replace(/"error": \{[^}]*\}/, '"error": null')),
}
