import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'searches-dropped',
  says: 'The number of billed searches is dropped.',
  cell: 'cohere.rerank-cohere.rerank/rerank-text/whole',
  caught: ['answer.meaning:usage.searches'],
  answer: answer => edited(answer, text => text.replace('"search_units"', '"units"')),
}
