import { where } from '../sockets/saboteurs/saboteur.ts'
import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'socket-transport-fields',
  says: 'A request on a socket still has fields about the transport.',
  cell: 'responses.socket-responses.socket/text/stream',
  caught: ['request.transport-fields'],
  frames: () => ({ client: where('response.create', data => [{ ...data, stream_options: {} }]) }),
}
