import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'subtitles-headless',
  says: 'The first line of WebVTT subtitles is dropped.',
  cell: 'transcriptions-transcriptions/transcriptions-vtt/whole',
  caught: ['answer.subtitles'],
  answer: answer => edited(answer, text => text.replace('WEBVTT\n\n', '')),
}
