import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'credential-dropped',
  says: 'The request reaches the upstream without a credential.',
  cell: 'chat-chat/text/whole',
  caught: ['request.credential'],
  headers: ({ authorization: _, ...others }) => others,
}
