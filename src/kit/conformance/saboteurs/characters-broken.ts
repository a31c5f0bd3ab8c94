import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'characters-broken',
  says: 'A multi-byte character is split and decoded in two halves.',
  cell: 'messages-messages/text/stream',
  caught: ['answer.meaning:candidates[0].text'],
  answer: answer => {
    const at = answer.body.indexOf('東') + 1
    const halves = [answer.body.subarray(0, at), answer.body.subarray(at)]
    return { ...answer, body: Buffer.from(halves.map(half => half.toString('utf8')).join('')) }
  },
}
