import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'transcript-delta-lost',
  says: 'A delta of a transcript is lost.',
  cell: 'transcriptions-transcriptions/transcriptions/stream',
  caught: ['stream.text-adds-up', 'answer.meaning:text'],
  answer: answer => edited(answer, text => text.replace(/\n\ndata: [^\n]+/, '')),
}
