import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'speech-type-wrong',
  says: 'The content type of a recording is that of JSON.',
  cell: 'speech-speech/speech-opus/whole',
  caught: ['answer.http.content-type'],
  answer: answer => ({ ...answer, headers: { ...answer.headers, 'content-type': 'application/json' } }),
}
