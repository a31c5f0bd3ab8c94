import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'unknown-model-as-200',
  says: 'A model that does not exist is answered with status 200.',
  cell: 'chat.models-chat.models/models-unknown/whole',
  caught: ['answer.http.status', 'error.meaning:kind', 'error.meaning:status'],
  answer: answer => ({ ...answer, status: 200 }),
}
