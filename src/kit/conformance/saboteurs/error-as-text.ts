import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'error-as-text',
  says: 'An error is plain text instead of JSON.',
  cell: 'chat-chat/error-500/whole',
  caught: ['error.schema', 'error.error-type'],
  answer: answer => edited(answer, () => 'Internal Server Error'),
}
