import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'subtitles-point',
  says: 'The times of SubRip have a point, which is the syntax of WebVTT.',
  cell: 'transcriptions-transcriptions/transcriptions-srt/whole',
  caught: ['answer.subtitles'],
  answer: answer => edited(answer, text => text.replace(/,(\d{3})/g, '.$1')),
}
