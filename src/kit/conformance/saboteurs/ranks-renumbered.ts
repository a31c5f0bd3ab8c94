import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'ranks-renumbered',
  says: 'The index of a rank is its position in the answer.',
  cell: 'cohere.rerank-cohere.rerank/rerank-top/whole',
  caught: ['answer.meaning:ranks[0].document', 'answer.meaning:ranks[1].document'],
  answer: answer =>
    edited(answer, text => {
      let position = 0
      return text.replace(/"index": \d/g, () => `"index": ${position++}`)
    }),
}
