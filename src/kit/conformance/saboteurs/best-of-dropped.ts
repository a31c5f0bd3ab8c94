import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'best-of-dropped',
  says: 'The number of completions to choose from is dropped.',
  cell: 'completions-completions/completion-best-of/whole',
  caught: ['request.meaning:bestOf'],
  request: body => rewritten(body, text => text.replace(/,"best_of":\d/, '')),
}
