import { where } from '../sockets/saboteurs/saboteur.ts'
import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'socket-turn-forgotten',
  says: 'A turn does not name the answer that it continues.',
  cell: 'responses.socket-responses.socket/turns-continued/stream',
  caught: ['step-2.request.meaning:continues.id'],
  frames: () => ({ client: where('response.create', ({ previous_response_id: _, ...data }) => [data]) }),
}
