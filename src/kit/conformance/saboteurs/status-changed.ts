import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'status-changed',
  says: 'A client error becomes a server error.',
  cell: 'messages-messages/error-400/whole',
  caught: ['answer.http.status', 'error.error-type-fits', 'error.meaning:status', 'error.meaning:kind'],
  answer: answer => ({ ...answer, status: 500 }),
}
