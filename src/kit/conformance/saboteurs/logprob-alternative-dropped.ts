import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'logprob-alternative-dropped',
  says: 'One alternative of a token is dropped.',
  cell: 'contents-contents/logprobs/stream',
  caught: ['answer.meaning:candidates[0].logprobs[0].top'],
  answer: answer => edited(answer, text => text.replace(/, \{"token": "No".*?\}/, '')),
}
