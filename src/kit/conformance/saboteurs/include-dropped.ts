import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'include-dropped',
  says: 'The request no longer includes log probabilities.',
  cell: 'responses-responses/logprobs/whole',
  caught: ['request.logprobs-included', 'request.meaning:include.message.output_text.logprobs'],
  request: body => rewritten(body, text => text.replace(/,"include":\[[^\]]*\]/, '')),
}
