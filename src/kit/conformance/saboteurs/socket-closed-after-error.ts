import type { RelayedFrames } from '../sockets/relay.ts'
import type { Saboteur } from './saboteur.ts'

/** The first frame is the error. The connection closes before the second one. */
const endsAfterFirst = (): ((text: string) => RelayedFrames) => {
  let count = 0
  return (text: string) => (count++ === 0 ? [text] : 'terminate')
}

export const saboteur: Saboteur = {
  name: 'socket-closed-after-error',
  says: 'The connection is closed after an error.',
  cell: 'responses.socket-responses.socket/turn-after-error/stream',
  caught: ['step-2.answer.http.closed'],
  frames: () => ({ server: endsAfterFirst() }),
}
