import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'unknown-model-as-200',
  says: 'A model that does not exist is answered with status 200.',
  cell: 'chat.models-chat.models/models-unknown/whole',
  caught: ['step-3.answer.http.status', 'step-3.error.meaning:kind', 'step-3.error.meaning:status'],
  answer: answer => ({ ...answer, status: 200 }),
}
