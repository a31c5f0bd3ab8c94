import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'subtitles-headless',
  says: 'WebVTT has lost its first line.',
  cell: 'transcriptions-transcriptions/transcriptions-vtt/whole',
  caught: ['answer.subtitles'],
  answer: answer => edited(answer, text => text.replace('WEBVTT\n\n', '')),
}
