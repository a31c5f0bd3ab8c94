import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'token-ids-as-text',
  says: 'A prompt of token ids is sent as text.',
  cell: 'completions-completions/completion-tokens/whole',
  caught: ['request.meaning:prompts[0].tokens', 'request.meaning:turns[0].role', 'request.meaning:turns[0].text'],
  request: body => rewritten(body, text => text.replace(/\[(9906,11)\]/, '"$1"')),
}
