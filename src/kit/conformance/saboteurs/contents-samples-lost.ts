import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'contents-samples-lost',
  says: 'The second half of the speech samples is lost.',
  cell: 'contents.speech-contents.speech/speech-pcm/stream',
  caught: ['answer.meaning:sound.digest', 'answer.meaning:sound.bytes'],
  answer: answer => edited(answer, text => text.replace(/("data": ")[^"]+(?=[^\n]*"STOP")/, '$1AAAA')),
}
