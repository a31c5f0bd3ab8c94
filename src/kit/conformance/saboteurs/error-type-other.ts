import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'error-type-other',
  says: 'An exceeded limit has the type of a wrong request.',
  cell: 'messages-messages/error-429/whole',
  caught: ['error.error-type-fits'],
  answer: answer => edited(answer, text => text.replace('rate_limit_error', 'invalid_request_error')),
}
