import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'completion-index-zero',
  says: 'The indexes of the second prompt’s choices start at 0 again.',
  cell: 'completions-completions/completion-prompts/whole',
  caught: ['answer.choices', 'answer.meaning:candidates[1].text', 'answer.meaning:candidates[2].text'],
  answer: answer =>
    edited(answer, text => text.replace('"index": 2', '"index": 0').replace('"index": 3', '"index": 1')),
}
