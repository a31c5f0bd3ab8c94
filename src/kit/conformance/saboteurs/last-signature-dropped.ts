import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'last-signature-dropped',
  says: 'The signature on the empty last part of a stream is dropped.',
  cell: 'contents-contents/reasoning-signature-last/stream',
  caught: ['answer.meaning:candidates[0].reasoning[0].signature'],
  answer: answer => edited(answer, text => text.replace(/, "thoughtSignature": "[^"]*"/, '')),
}
