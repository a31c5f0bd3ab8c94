import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'error-type-missing',
  says: 'An error has no type.',
  cell: 'chat-chat/error-400/whole',
  caught: ['error.schema', 'error.error-type'],
  answer: answer => edited(answer, text => text.replace(/"type":\s*"[^"]*",?/, '')),
}
