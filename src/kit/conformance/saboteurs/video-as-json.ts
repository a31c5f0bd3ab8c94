import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'video-as-json',
  says: 'A video is returned as JSON with a URL instead of as bytes.',
  cell: 'videos-videos/videos/whole',
  caught: [
    'step-3.answer.http.content-type',
    'step-3.answer.file',
    'step-3.answer.meaning:file.digest',
    'step-3.answer.meaning:file.bytes',
    'step-3.answer.meaning:file.container',
  ],
  answer: answer =>
    answer.headers['content-type'] === 'video/mp4'
      ? { ...answer, headers: { 'content-type': 'application/json' }, body: Buffer.from('{"url":"https://a.example"}') }
      : answer,
}
