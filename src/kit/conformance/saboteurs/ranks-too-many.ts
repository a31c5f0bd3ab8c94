import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'ranks-too-many',
  says: 'An answer has more ranks than requested.',
  cell: 'rerank-rerank/rerank-top/whole',
  caught: ['answer.count', 'answer.meaning:ranks[2].document', 'answer.meaning:ranks[2].score'],
  answer: answer =>
    edited(answer, text => {
      const body = JSON.parse(text) as { results: object[] }
      body.results.push({ index: 0, relevance_score: 0.5 })
      return JSON.stringify(body)
    }),
}
