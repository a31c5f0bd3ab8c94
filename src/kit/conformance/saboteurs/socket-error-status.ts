import { where } from '../sockets/saboteurs/saboteur.ts'
import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'socket-error-status',
  says: 'An error on a socket has a different status.',
  cell: 'responses.socket-responses.socket/error-429/stream',
  caught: ['answer.http.status', 'error.meaning:kind', 'error.meaning:status'],
  frames: () => ({ server: where('error', data => [{ ...data, status: 500 }]) }),
}
