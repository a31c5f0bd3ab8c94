import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'sound-type-changed',
  says: 'An audio input is declared with a different format.',
  cell: 'contents-contents/audio/whole',
  caught: ['request.meaning:turns[0].media[0].type'],
  request: body => rewritten(body, text => text.replace('audio/wav', 'audio/mp3')),
}
