import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'speech-truncated',
  says: 'The second half of a recording is missing.',
  cell: 'speech-speech/speech/whole',
  caught: ['answer.meaning:sound.digest', 'answer.meaning:sound.bytes'],
  answer: answer => ({ ...answer, body: answer.body.subarray(0, answer.body.length / 2) }),
}
