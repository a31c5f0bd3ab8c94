import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'reasoning-of-other-caller',
  says: 'The stream of one of several agents at once has the encrypted reasoning of another.',
  cell: 'responses-responses/callers-at-once-tools/stream',
  caught: ['stream.own-answer', 'step-2.request.own-request'],
  answer: answer => edited(answer, text => text.replaceAll(/(?<=KitEncryptedOfcaller)2/g, '1')),
}
