import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'logprobs-dropped',
  says: 'The log probabilities of a text are dropped.',
  cell: 'chat-chat/logprobs/whole',
  caught: [
    'answer.meaning:candidates[0].logprobs[0].logprob',
    'answer.meaning:candidates[0].logprobs[0].token',
    'answer.meaning:candidates[0].logprobs[0].top',
    'answer.meaning:candidates[0].logprobs[1].logprob',
    'answer.meaning:candidates[0].logprobs[1].token',
    'answer.meaning:candidates[0].logprobs[1].top',
  ],
  answer: answer =>
    edited(answer, text => text.replace(/"logprobs": \{[\s\S]*?\},(?=\s*"finish_reason")/, '"logprobs": null,')),
}
