import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'error-status-other',
  says: 'An exceeded limit has the status of a wrong request.',
  cell: 'contents-contents/error-429/whole',
  caught: ['error.status-fits'],
  answer: answer => edited(answer, text => text.replace('RESOURCE_EXHAUSTED', 'INVALID_ARGUMENT')),
}
