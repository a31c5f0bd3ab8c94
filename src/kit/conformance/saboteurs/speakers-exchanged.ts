import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'speakers-exchanged',
  says: 'Two speakers are swapped.',
  cell: 'transcriptions-transcriptions/transcriptions-speakers/whole',
  caught: ['answer.meaning:segments[0].speaker', 'answer.meaning:segments[1].speaker'],
  answer: answer =>
    edited(answer, text => text.replace(/"speaker": "(.)"/g, (_, name) => `"speaker": "${name === 'A' ? 'B' : 'A'}"`)),
}
