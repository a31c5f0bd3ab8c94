import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'suffix-dropped',
  says: 'The text after an insertion is dropped.',
  cell: 'completions-completions/completion-suffix/stream',
  caught: ['request.meaning:suffix'],
  request: body => rewritten(body, text => text.replace(/"suffix":"[^"]*",/, '')),
}
