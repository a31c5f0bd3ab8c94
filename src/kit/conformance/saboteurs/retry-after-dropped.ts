import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'retry-after-dropped',
  says: 'The header retry-after is dropped.',
  cell: 'chat-chat/error-429/stream',
  caught: ['error.meaning:retryAfter'],
  answer: answer => {
    const { 'retry-after': _, ...headers } = answer.headers
    return { ...answer, headers }
  },
}
