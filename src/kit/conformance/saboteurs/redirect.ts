import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'redirect',
  says: 'The answer is a redirect.',
  cell: 'chat-chat/text/whole',
  caught: ['answer.http.status'],
  answer: answer => ({ ...answer, status: 302, headers: { ...answer.headers, location: 'http://127.0.0.1:9/' } }),
}
