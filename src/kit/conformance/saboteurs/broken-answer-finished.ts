import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'broken-answer-finished',
  says: 'An interrupted stream ends normally.',
  cell: 'chat-chat/broken-answer/stream',
  caught: ['stream.broken.told', 'stream.broken.no-normal-end'],
  answer: answer => ({
    ...answer,
    isComplete: true,
    body: Buffer.concat([answer.body, Buffer.from('\n\ndata: [DONE]\n\n')]),
  }),
}
