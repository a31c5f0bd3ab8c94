import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'logprob-entry-dropped',
  says: 'The log probability of the last token is missing.',
  cell: 'completions-completions/completion-logprobs/whole',
  caught: ['answer.logprobs', 'answer.meaning:candidates[0].logprobs[1].logprob'],
  answer: answer => edited(answer, text => text.replace(/,\s*-1\.5(?=\s*\])/, '')),
}
