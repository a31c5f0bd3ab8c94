import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'video-truncated',
  says: 'A video file is truncated.',
  cell: 'videos-videos/videos/whole',
  caught: ['step-3.answer.meaning:file.digest', 'step-3.answer.meaning:file.bytes'],
  answer: answer =>
    answer.headers['content-type'] === 'video/mp4' ? { ...answer, body: answer.body.subarray(0, 1000) } : answer,
}
