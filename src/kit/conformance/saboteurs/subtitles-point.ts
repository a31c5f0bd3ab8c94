import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'subtitles-point',
  says: 'SubRip times have a decimal point, as in WebVTT.',
  cell: 'transcriptions-transcriptions/transcriptions-srt/whole',
  caught: ['answer.subtitles'],
  answer: answer => edited(answer, text => text.replace(/,(\d{3})/g, '.$1')),
}
