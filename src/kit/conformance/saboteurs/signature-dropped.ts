import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'signature-dropped',
  says: 'The signature_delta events are dropped.',
  cell: 'messages-messages/reasoning-signature/stream',
  caught: ['answer.meaning:candidates[0].reasoning[0].signature'],
  answer: answer =>
    edited(answer, text =>
      text
        .split('\n\n')
        .filter(event => !event.includes('signature_delta'))
        .join('\n\n'),
    ),
}
