import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'speech-done-missing',
  says: 'A stream of speech ends after its deltas.',
  cell: 'speech-speech/speech/stream',
  caught: ['stream.done', 'answer.meaning:usage.input', 'answer.meaning:usage.output'],
  answer: answer => edited(answer, text => text.slice(0, text.lastIndexOf('data:'))),
}
