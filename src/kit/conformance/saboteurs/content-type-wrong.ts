import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'content-type-wrong',
  says: 'A stream is declared as plain text.',
  cell: 'chat-chat/text/stream',
  caught: ['answer.http.content-type'],
  answer: answer => ({ ...answer, headers: { ...answer.headers, 'content-type': 'text/plain' } }),
}
