import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'transcript-done-missing',
  says: 'A streamed transcript ends after its deltas.',
  cell: 'transcriptions-transcriptions/transcriptions/stream',
  caught: [
    'stream.done',
    'answer.meaning:usage.input',
    'answer.meaning:usage.output',
    'answer.meaning:usage.inputAudio',
  ],
  answer: answer => edited(answer, text => text.slice(0, text.lastIndexOf('data:'))),
}
