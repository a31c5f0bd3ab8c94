import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'echo-dropped',
  says: 'The answer does not repeat the prompt although echo is set.',
  cell: 'completions-completions/completion-echo/whole',
  caught: ['answer.echo', 'answer.meaning:candidates[0].text'],
  answer: answer => edited(answer, text => text.replace('Once there was', '')),
}
