import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'answer-empty',
  says: 'The body of an answer is empty.',
  cell: 'responses-responses/text/whole',
  caught: [
    'answer.schema',
    'answer.status',
    'answer.meaning:candidates[0].text',
    'answer.meaning:candidates[0].finish',
    'answer.meaning:usage.input',
    'answer.meaning:usage.output',
  ],
  answer: answer => ({ ...answer, body: Buffer.alloc(0) }),
}
