import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'logprobs-late',
  says: 'The last text delta has no log probabilities.',
  cell: 'responses-responses/logprobs/stream',
  caught: [
    'answer.meaning:candidates[0].logprobs[1].logprob',
    'answer.meaning:candidates[0].logprobs[1].token',
    'answer.meaning:candidates[0].logprobs[1].top',
    'stream.done-repeats',
  ],
  answer: answer => edited(answer, text => text.replace(/("delta": "\.", "logprobs": )\[\{.*?\}\]\}\]/, '$1[]')),
}
