import { first } from '../sockets/saboteurs/saboteur.ts'
import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'socket-delta-lost',
  says: 'A delta on a socket is lost.',
  cell: 'responses.socket-responses.socket/text/stream',
  caught: ['answer.meaning:candidates[0].text', 'stream.done-repeats', 'stream.sequence'],
  frames: () => ({ server: first('response.output_text.delta', () => []) }),
}
