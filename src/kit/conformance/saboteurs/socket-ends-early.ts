import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'socket-ends-early',
  says: 'The connection is closed instead of sending the last event.',
  cell: 'responses.socket-responses.socket/text/stream',
  caught: [
    'answer.http.closed',
    'answer.meaning:candidates[0].finish',
    'answer.meaning:usage.input',
    'answer.meaning:usage.output',
  ],
  frames: () => ({ server: text => (text.includes('"response.completed"') ? 'terminate' : [text]) }),
}
