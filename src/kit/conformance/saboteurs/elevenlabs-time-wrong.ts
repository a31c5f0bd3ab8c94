import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'elevenlabs-time-wrong',
  says: 'A word ends a second late.',
  cell: 'elevenlabs.transcriptions-elevenlabs.transcriptions/transcriptions-vendor-words/whole',
  caught: ['answer.meaning:words[1].end'],
  answer: answer => edited(answer, text => text.replace(/("text": "boat"[\s\S]*?"end": )0/, '$11')),
}
