import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'speech-as-text',
  says: 'The bytes of a recording are decoded as UTF-8 and encoded again.',
  cell: 'speech-speech/speech-wav/whole',
  caught: ['answer.meaning:sound.digest', 'answer.meaning:sound.bytes'],
  answer: answer => edited(answer, text => text),
}
