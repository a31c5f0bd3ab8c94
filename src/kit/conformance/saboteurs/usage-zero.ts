import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'usage-zero',
  says: 'The input tokens are zero.',
  cell: 'chat-chat/text/whole',
  caught: ['answer.meaning:usage.input'],
  answer: answer => edited(answer, text => text.replace(/"prompt_tokens": \d+/, '"prompt_tokens": 0')),
}
