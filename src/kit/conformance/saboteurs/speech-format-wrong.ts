import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'speech-format-wrong',
  says: 'A recording does not have the requested format.',
  cell: 'speech-speech/speech-pcm/whole',
  caught: ['answer.sound-is-format', 'answer.meaning:sound.digest', 'answer.meaning:sound.bytes'],
  answer: answer => ({
    ...answer,
    body: Buffer.concat([Buffer.from('RIFF\u0000\u0000\u0000\u0000WAVE'), answer.body]),
  }),
}
