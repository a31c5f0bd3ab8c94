import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'segment-time-wrong',
  says: 'A segment begins a second late.',
  cell: 'transcriptions-transcriptions/transcriptions-segments/whole',
  caught: ['answer.meaning:segments[1].start'],
  answer: answer => edited(answer, text => text.replace('"start": 1.4', '"start": 2.4')),
}
