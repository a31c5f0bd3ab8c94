import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'count-in-other-field',
  says: 'The count is in a field of another format.',
  cell: 'contents.tokens-contents.tokens/tokens-text/whole',
  caught: ['answer.count', 'answer.meaning:usage.input'],
  answer: answer => edited(answer, text => text.replace('"totalTokens"', '"input_tokens"')),
}
