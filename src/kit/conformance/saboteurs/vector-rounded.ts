import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'vector-rounded',
  says: 'The numbers of a vector are rounded to three digits.',
  cell: 'embeddings-embeddings/embeddings-precision/whole',
  caught: ['answer.meaning:vectors[0].numbers'],
  answer: answer => edited(answer, text => text.replace(/-?0\.\d{4,}/g, number => Number(number).toFixed(3))),
}
