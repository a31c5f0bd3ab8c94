import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'video-never-deleted',
  says: 'A deleted video still exists.',
  cell: 'videos-videos/videos-deleted/whole',
  caught: [
    'step-4.answer.http.status',
    'step-4.error.error-type',
    'step-4.error.schema',
    'step-4.error.meaning:kind',
    'step-4.error.meaning:status',
  ],
  answer: answer => (answer.status === 404 ? { ...answer, status: 200, body: Buffer.from('{}') } : answer),
}
