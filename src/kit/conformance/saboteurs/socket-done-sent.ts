import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'socket-done-sent',
  says: 'A frame with [DONE] ends an answer, as over HTTP.',
  cell: 'responses.socket-responses.socket/text/stream',
  caught: ['stream.frame'],
  frames: () => ({ server: text => (text.includes('"response.completed"') ? [text, '[DONE]'] : [text]) }),
}
