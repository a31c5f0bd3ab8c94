import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'transcript-as-json',
  says: 'A transcript in plain text becomes JSON.',
  cell: 'transcriptions-transcriptions/transcriptions-text/whole',
  caught: ['answer.plain', 'answer.meaning:text'],
  answer: answer => edited(answer, text => JSON.stringify({ text })),
}
