import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'logprobs-unasked',
  says: 'Log probabilities are not requested.',
  cell: 'responses-responses/logprobs/whole',
  caught: ['request.meaning:settings.topLogprobs'],
  request: body => rewritten(body, text => text.replace(/,"top_logprobs":2/, '')),
}
