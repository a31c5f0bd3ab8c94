import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'stream-cut',
  says: 'The connection closes in the middle of a stream.',
  cell: 'messages-messages/text/stream',
  caught: [
    'answer.http.closed',
    'stream.sse.unfinished',
    'answer.meaning:candidates[0].text',
    'answer.meaning:candidates[0].finish',
    'answer.meaning:usage.output',
  ],
  answer: answer => ({ ...answer, body: answer.body.subarray(0, answer.body.length / 2), isComplete: false }),
}
