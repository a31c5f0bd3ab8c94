import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'sound-changed',
  says: 'The bytes of an audio input are changed.',
  cell: 'chat-chat/audio/whole',
  caught: ['request.meaning:turns[0].media[0].digest'],
  request: body => rewritten(body, text => text.replace('UklGR', 'UklGS')),
}
