import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'count-zero',
  says: 'Every count is zero.',
  cell: 'messages.tokens-messages.tokens/tokens-text/whole',
  caught: ['answer.count', 'answer.meaning:usage.input'],
  answer: answer => edited(answer, text => text.replace(/"input_tokens": \d+/, '"input_tokens": 0')),
}
