import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'final-encryption-dropped',
  says: 'The final event lacks the encrypted reasoning.',
  cell: 'responses-responses/reasoning-signature/stream',
  caught: ['stream.final-repeats'],
  answer: answer =>
    edited(answer, text =>
      text.replace(/"type": "response\.completed".*/, event => event.replace(/,? ?"encrypted_content": "[^"]*"/, '')),
    ),
}
