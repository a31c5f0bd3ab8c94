import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'video-remix-unnamed',
  says: 'A remix no longer names its original.',
  cell: 'videos-videos/videos-remix/whole',
  caught: ['step-3.answer.meaning:isRemix', 'step-4.answer.meaning:isRemix'],
  answer: answer =>
    edited(answer, text => text.replace('"remixed_from_video_id": "video_KIT6"', '"remixed_from_video_id": null')),
}
