import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'vectors-swapped',
  says: 'Two vectors are swapped.',
  cell: 'embeddings-embeddings/embeddings-inputs/whole',
  caught: ['answer.meaning:vectors[0].numbers', 'answer.meaning:vectors[1].numbers'],
  answer: answer =>
    edited(answer, text => {
      const body = JSON.parse(text) as { data: { index: number }[] }
      const [first, second] = body.data
      ;[first!.index, second!.index] = [1, 0]
      return JSON.stringify(body)
    }),
}
