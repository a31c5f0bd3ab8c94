import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'error-as-200',
  says: 'An error is answered with the status 200.',
  cell: 'messages-messages/error-429/whole',
  caught: ['answer.http.status', 'error.meaning:status', 'error.meaning:kind'],
  answer: answer => ({ ...answer, status: 200 }),
}
