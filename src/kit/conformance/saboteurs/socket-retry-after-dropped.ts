import { where, within } from '../sockets/saboteurs/saboteur.ts'
import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'socket-retry-after-dropped',
  says: 'An error on a socket has no headers.',
  cell: 'responses.socket-responses.socket/error-429/stream',
  caught: ['error.meaning:retryAfter'],
  frames: () => ({ server: where('error', data => [within(data, 'error', { headers: {} })]) }),
}
