import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'video-list-ends-wrong',
  says: 'last_id of a list of videos is not the id of its last video.',
  cell: 'videos-videos/videos-list/whole',
  caught: ['step-3.answer.list-ends'],
  answer: answer => edited(answer, text => text.replace('"last_id": "video_KIT9"', '"last_id": "video_KIT8"')),
}
