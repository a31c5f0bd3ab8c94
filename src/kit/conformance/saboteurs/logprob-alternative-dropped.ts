import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'logprob-alternative-dropped',
  says: 'A token has one alternative less.',
  cell: 'contents-contents/logprobs/stream',
  caught: ['answer.meaning:candidates[0].logprobs[0].top'],
  answer: answer => edited(answer, text => text.replace(/, \{"token": "No".*?\}/, '')),
}
