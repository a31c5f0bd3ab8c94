import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'video-id-changes',
  says: 'The id of a video changes when the video is completed.',
  cell: 'videos-videos/videos-progress/whole',
  caught: ['step-3.answer.id'],
  answer: answer =>
    edited(answer, text => text.replace(/"id": "video_KIT2"(?=[\s\S]*"completed")/, '"id": "video_other"')),
}
