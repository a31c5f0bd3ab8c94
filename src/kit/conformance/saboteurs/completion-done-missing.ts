import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'completion-done-missing',
  says: 'A completions stream ends without [DONE].',
  cell: 'completions-completions/completion-choices/stream',
  caught: ['stream.done'],
  answer: answer => edited(answer, text => text.replace('data: [DONE]\n\n', '')),
}
