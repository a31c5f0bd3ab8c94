import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'ranks-unsorted',
  says: 'The ranks are in the order of the documents.',
  cell: 'rerank-rerank/rerank-text/whole',
  caught: [
    'answer.sorted',
    'answer.meaning:ranks[0].document',
    'answer.meaning:ranks[0].score',
    'answer.meaning:ranks[1].document',
    'answer.meaning:ranks[1].score',
    'answer.meaning:ranks[2].document',
    'answer.meaning:ranks[2].score',
  ],
  answer: answer =>
    edited(answer, text => {
      const body = JSON.parse(text) as { results: { index: number }[] }
      body.results.sort((a, b) => a.index - b.index)
      return JSON.stringify(body)
    }),
}
