import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'speech-type-wrong',
  says: 'A recording is declared as JSON.',
  cell: 'speech-speech/speech-opus/whole',
  caught: ['answer.http.content-type'],
  answer: answer => ({ ...answer, headers: { ...answer.headers, 'content-type': 'application/json' } }),
}
