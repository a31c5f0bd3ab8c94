import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'speech-delta-lost',
  says: 'A delta of a recording is lost.',
  cell: 'speech-speech/speech/stream',
  caught: ['answer.meaning:sound.digest', 'answer.meaning:sound.bytes'],
  answer: answer => edited(answer, text => text.replace(/\n\ndata: [^\n]+/, '')),
}
